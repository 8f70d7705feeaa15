; What the processor can do, asked of the processor itself: operating systems do not vouch
; for BMI2, FMA or LZCNT. Compiled for the oldest x86-64, since any processor has to run it.

; Store eax, ebx, ecx, edx of CPUID at this leaf.
define void @numoku_cpuid(i32 %leaf, i32 %subleaf, ptr %registers) #0 {
  %all = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %leaf, i32 %subleaf)
  store { i32, i32, i32, i32 } %all, ptr %registers
  ret void
}

; Return which registers the operating system saves (XCR0); only where CPUID says OSXSAVE.
define i32 @numoku_xgetbv() #0 {
  %all = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)
  %low = extractvalue { i32, i32 } %all, 0
  ret i32 %low
}

attributes #0 = { nounwind noinline "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" }
