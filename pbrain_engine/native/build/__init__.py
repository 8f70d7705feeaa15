"""From kernels to a library, by numba and LLVM; what only plays needs none of it.

It is part of every installation all the same, since ``numoku build`` makes a kernel where the wheel
carries none for the machine. What makes packages is in the folder ``build`` of the sources.
"""
