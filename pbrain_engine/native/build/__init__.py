"""From numba kernels to native libraries: compile, lower, link, and look at what came out."""
