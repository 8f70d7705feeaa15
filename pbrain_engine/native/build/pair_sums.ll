; The products of two rows of int16, added in pairs, where no instruction does that.
define <16 x i32> @numoku_pair_sums(<32 x i16> %a, <32 x i16> %b) alwaysinline {
  %wide_a = sext <32 x i16> %a to <32 x i32>
  %wide_b = sext <32 x i16> %b to <32 x i32>
  %products = mul <32 x i32> %wide_a, %wide_b
  %even = shufflevector <32 x i32> %products, <32 x i32> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %odd = shufflevector <32 x i32> %products, <32 x i32> poison, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %sums = add <16 x i32> %even, %odd
  ret <16 x i32> %sums
}
