; What a Windows library needs when it is linked without any C runtime: an entry point, and
; the memory functions that LLVM's code may call. Loops, which the optimiser vectorises;
; "no-builtins" keeps it from turning them into calls of themselves.

define i32 @DllMainCRTStartup(ptr %module, i32 %reason, ptr %reserved) {
  ret i32 1
}

define ptr @memset(ptr %to, i32 %value, i64 %count) #0 {
entry:
  %byte = trunc i32 %value to i8
  %nothing = icmp eq i64 %count, 0
  br i1 %nothing, label %done, label %loop
loop:
  %index = phi i64 [ 0, %entry ], [ %next, %loop ]
  %target = getelementptr inbounds i8, ptr %to, i64 %index
  store i8 %byte, ptr %target
  %next = add nuw i64 %index, 1
  %finished = icmp eq i64 %next, %count
  br i1 %finished, label %done, label %loop
done:
  ret ptr %to
}

define ptr @memcpy(ptr noalias %to, ptr noalias %from, i64 %count) #0 {
entry:
  %nothing = icmp eq i64 %count, 0
  br i1 %nothing, label %done, label %loop
loop:
  %index = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr inbounds i8, ptr %from, i64 %index
  %target = getelementptr inbounds i8, ptr %to, i64 %index
  %byte = load i8, ptr %source
  store i8 %byte, ptr %target
  %next = add nuw i64 %index, 1
  %finished = icmp eq i64 %next, %count
  br i1 %finished, label %done, label %loop
done:
  ret ptr %to
}

define ptr @memmove(ptr %to, ptr %from, i64 %count) #0 {
entry:
  %nothing = icmp eq i64 %count, 0
  br i1 %nothing, label %done, label %choose
choose:
  %overlaps = icmp ugt ptr %to, %from
  br i1 %overlaps, label %down, label %up
up:
  %index = phi i64 [ 0, %choose ], [ %next, %up ]
  %source = getelementptr inbounds i8, ptr %from, i64 %index
  %target = getelementptr inbounds i8, ptr %to, i64 %index
  %byte = load i8, ptr %source
  store i8 %byte, ptr %target
  %next = add nuw i64 %index, 1
  %finished = icmp eq i64 %next, %count
  br i1 %finished, label %done, label %up
down:
  %above = phi i64 [ %count, %choose ], [ %here, %down ]
  %here = sub nuw i64 %above, 1
  %high_source = getelementptr inbounds i8, ptr %from, i64 %here
  %high_target = getelementptr inbounds i8, ptr %to, i64 %here
  %high_byte = load i8, ptr %high_source
  store i8 %high_byte, ptr %high_target
  %first = icmp eq i64 %here, 0
  br i1 %first, label %done, label %down
done:
  ret ptr %to
}

attributes #0 = { nounwind "no-builtins" }
