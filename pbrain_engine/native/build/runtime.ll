; Numba counts references to memory it owns; a kernel's memory is the caller's, so there is nothing
; to count. Anything that would allocate stays an undefined symbol and is refused.
define void @NRT_incref(ptr %memory) alwaysinline { ret void }
define void @NRT_decref(ptr %memory) alwaysinline { ret void }
