"""From kernels to a library, by numba and LLVM; not needed for play.

It is part of every installation, because ``numoku build`` makes a kernel if the wheel has none for
the machine. Packages are made by the folder ``build`` of the sources.
"""
