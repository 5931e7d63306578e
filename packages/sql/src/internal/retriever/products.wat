;; The products of a vector with others. All are of numbers of 32 bits, and stand one
;; behind the other: first the vector, then the others, and then there is room for the
;; products.
(module
  (memory (export "memory") 4)
  (func (export "multiply")
    (param $count i32) ;; how many others there are, 1 at the least
    (param $bytes i32) ;; what each of them takes
    (local $eights i32) (local $at i32) (local $other i32) (local $product i32)
    (local $sums v128) (local $more v128) (local $rest f32)
    (local.set $eights (i32.and (local.get $bytes) (i32.const -32)))
    (local.set $other (local.get $bytes))
    (local.set $product (i32.mul (local.get $bytes) (i32.add (local.get $count) (i32.const 1))))
    (loop $others
      (local.set $at (i32.const 0))
      (local.set $sums (v128.const f32x4 0 0 0 0))
      (local.set $more (v128.const f32x4 0 0 0 0))
      (local.set $rest (f32.const 0))
      ;; eight numbers at once, in two sums that need not wait for each other
      (block $done
        (loop $numbers
          (br_if $done (i32.ge_u (local.get $at) (local.get $eights)))
          (local.set $sums
            (f32x4.add (local.get $sums)
              (f32x4.mul (v128.load (local.get $at)) (v128.load (i32.add (local.get $other) (local.get $at))))))
          (local.set $more
            (f32x4.add (local.get $more)
              (f32x4.mul
                (v128.load offset=16 (local.get $at))
                (v128.load offset=16 (i32.add (local.get $other) (local.get $at))))))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br $numbers)))
      ;; what is left, one by one
      (block $done
        (loop $numbers
          (br_if $done (i32.ge_u (local.get $at) (local.get $bytes)))
          (local.set $rest
            (f32.add (local.get $rest)
              (f32.mul (f32.load (local.get $at)) (f32.load (i32.add (local.get $other) (local.get $at))))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br $numbers)))
      (local.set $sums (f32x4.add (local.get $sums) (local.get $more)))
      (f32.store (local.get $product)
        (f32.add (local.get $rest)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
            (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums))))))
      (local.set $product (i32.add (local.get $product) (i32.const 4)))
      (local.set $other (i32.add (local.get $other) (local.get $bytes)))
      (br_if $others (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))
