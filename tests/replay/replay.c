/* Repeats the calls that record.py wrote down on another kernel library, and compares every
 * result and what the memory holds in the end: replay LIBRARY EVENTS */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#define strtoll _strtoi64
static void *open_library(const char *path) { return (void *)LoadLibraryA(path); }
static void *find(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}
#else
#include <dlfcn.h>
static void *open_library(const char *path) { return dlopen(path, RTLD_NOW); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
#endif

#define MAX_BLOCKS 100000
#define MAX_ARGUMENTS 8

typedef int32_t (*kernel)(int64_t *result, void **exception, ...);

static struct {
    unsigned char *bytes;
    size_t length;
} blocks[MAX_BLOCKS];
static long line_number;

static void fail(const char *what, long long expected, long long found) {
    printf("line %ld: %s, expected %lld, found %lld\n", line_number, what, expected, found);
    exit(1);
}

/* The usual CRC, of eight bytes at a time where there are as many. */
static uint32_t crc32_of(const unsigned char *bytes, size_t length) {
    static uint32_t table[8][256];
    uint32_t crc = 0xFFFFFFFFu;
    if (table[0][1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int bit = 0; bit < 8; bit++)
                c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            table[0][i] = c;
        }
        for (int k = 1; k < 8; k++)
            for (uint32_t i = 0; i < 256; i++)
                table[k][i] = table[0][table[k - 1][i] & 0xFF] ^ (table[k - 1][i] >> 8);
    }
    for (; length >= 8; length -= 8, bytes += 8) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + 4, 4);
        low ^= crc;
        crc = 0;
        for (int k = 0; k < 4; k++) {
            crc ^= table[7 - k][(low >> 8 * k) & 0xFF];
            crc ^= table[3 - k][(high >> 8 * k) & 0xFF];
        }
    }
    while (length--)
        crc = table[0][(crc ^ *bytes++) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

/* Reads a line of any length; the buffer is the caller's until the next one. */
static char *read_line(FILE *file) {
    static char *line;
    static size_t room = 1 << 16;
    size_t used = 0;
    if (!line)
        line = malloc(room);
    while (fgets(line + used, (int)(room - used), file)) {
        used += strlen(line + used);
        if (used && line[used - 1] == '\n')
            break;
        if (room - used < 2)
            line = realloc(line, room *= 2);
    }
    if (!used)
        return NULL;
    while (used && (line[used - 1] == '\n' || line[used - 1] == '\r'))
        line[--used] = 0;
    return line;
}

static int64_t next_number(void) { return strtoll(strtok(NULL, " "), NULL, 10); }

static int digit(char sign) { return sign <= '9' ? sign - '0' : sign - 'a' + 10; }

static void write_block(long number, const char *hex) {
    for (size_t i = 0; hex[2 * i] && hex[2 * i + 1]; i++)
        blocks[number].bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
}

static int64_t argument(const char *word) {
    const char *colon = strchr(word, ':');
    if (!colon)
        return strtoll(word, NULL, 10);
    return (int64_t)(intptr_t)(blocks[atol(word)].bytes + strtoll(colon + 1, NULL, 10));
}

static void call(void *library) {
    const char *name = strtok(NULL, " ");
    int64_t expected = next_number(), result = 0, a[MAX_ARGUMENTS] = {0};
    void *exception = NULL;
    kernel function = (kernel)find(library, name);
    int count = 0;
    if (!function)
        fail("no such function", 0, 0);
    for (char *word; (word = strtok(NULL, " "));) {
        if (count == MAX_ARGUMENTS)
            fail("too many arguments", MAX_ARGUMENTS, count);
        a[count++] = argument(word);
    }
    /* Arguments beyond those that a function takes are ignored by both calling conventions. */
    int32_t status = ((int32_t(*)(int64_t *, void **, int64_t, int64_t, int64_t, int64_t,
                                  int64_t, int64_t, int64_t, int64_t))function)(
        &result, &exception, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    if (status)
        fail(name, 0, status);
    if (result != expected)
        fail(name, expected, result);
}

int main(int count, char **arguments) {
    long calls = 0;
    char *line;
    if (count != 3)
        return 2;
    void *library = open_library(arguments[1]);
    FILE *file = fopen(arguments[2], "rb");
    if (!library || !file) {
        printf("cannot open %s\n", library ? arguments[2] : arguments[1]);
        return 1;
    }
    while ((line = read_line(file))) {
        line_number++;
        char event = *strtok(line, " ");
        if (event == 'C') {
            call(library);
            calls++;
            continue;
        }
        int64_t number = next_number();
        if (number <= 0 || number >= MAX_BLOCKS)
            fail("block number", MAX_BLOCKS, number);
        if (event == 'B') {
            blocks[number].length = (size_t)next_number();
            blocks[number].bytes = calloc(1, blocks[number].length);
        } else if (event == 'W') {
            write_block(number, strtok(NULL, " "));
        } else if (event == 'F') {
            int64_t expected = next_number();
            int64_t found = crc32_of(blocks[number].bytes, blocks[number].length);
            if (found != expected)
                fail("memory differs", expected, found);
            free(blocks[number].bytes);
        } else {
            fail("unknown event", 0, event);
        }
    }
    printf("%ld calls agree\n", calls);
    return 0;
}

/* Where it begins without the start of a C library, which zig would first have to build. */
#ifdef _WIN32
int __getmainargs(int *, char ***, char ***, int, int *);
void __main(void) {}
void begin(void) {
    int count, no_mode = 0;
    char **arguments, **environment;
    __getmainargs(&count, &arguments, &environment, 0, &no_mode);
    exit(main(count, arguments));
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\nbl begin\n");
void begin(int64_t *stack) { exit(main((int)stack[0], (char **)(stack + 1))); }
#endif
