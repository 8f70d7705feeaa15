; Where there are no threads, a search calls a function of its host now and then, and returns when
; that says so. The function is called after so many steps as have been counted to OFTEN.

@numoku_listener = internal global ptr null
@numoku_steps = internal global i64 0

define void @numoku_listen(ptr %listener) {
  store ptr %listener, ptr @numoku_listener
  ret void
}

define i64 @numoku_poll(i64 %steps) alwaysinline {
  %before = load i64, ptr @numoku_steps
  %now = add i64 %before, %steps
  store i64 %now, ptr @numoku_steps
  %due = icmp uge i64 %now, 2048
  br i1 %due, label %call, label %on
call:
  %answer = call i64 @numoku_ask_host()
  ret i64 %answer
on:
  ret i64 0
}

define internal i64 @numoku_ask_host() noinline {
  store i64 0, ptr @numoku_steps
  %listener = load ptr, ptr @numoku_listener
  %none = icmp eq ptr %listener, null
  br i1 %none, label %on, label %ask
ask:
  %answer = call i32 %listener()
  %wide = sext i32 %answer to i64
  ret i64 %wide
on:
  ret i64 0
}
