(* The records are not empty: the real line, products of spaces (so every R^d), and n clients with equal weights. *)
From Fedtheory Require Import Spaces.

Definition line : space.
Proof.
  refine (@Space R 0 Rplus Rmult Rmult _ _ _ _ _ _); intros; try ring; try nra.
Defined.

Definition product (U W : space) : space.
Proof.
  refine (@Space (U * W) (zero, zero) (fun a b => (fst a + fst b, snd a + snd b)%V) (fun c a => (c *: fst a, c *: snd a)%V)
    (fun a b => dot (fst a) (fst b) + dot (snd a) (snd b)) _ _ _ _ _ _); intros; cbn [fst snd].
  - now rewrite (dot_sym _ (fst u)), (dot_sym _ (snd u)).
  - rewrite !dot_zero; ring.
  - dots; ring.
  - dots; ring.
  - pose proof (dot_pos _ (fst u)); pose proof (dot_pos _ (snd u)); lra.
  - destruct u as [a b], v as [c d]; cbn [fst snd] in *.
    pose proof (dot_pos _ (a + -1 *: c)%V); pose proof (dot_pos _ (b + -1 *: d)%V).
    f_equal; apply dot_definite; lra.
Defined.
Fixpoint Rpow (d : nat) : space := match d with O => line | S d => product line (Rpow d) end. (* R^(d+1) *)

Fixpoint sum {V : space} (u : nat -> V) (n : nat) : V := match n with O => zero | S n => (sum u n + u n)%V end.
Fixpoint total (a : nat -> R) (n : nat) : R := match n with O => 0 | S n => total a n + a n end.
Definition uniform (V : space) (n : nat) : clients V.
Proof.
  assert (P : 0 < INR (S n)) by (apply lt_0_INR, PeanoNat.Nat.lt_0_succ).
  refine (@Clients V nat (fun a => / INR (S n) * total a (S n)) (fun u => (/ INR (S n)) *: sum u (S n))%V _ _ _ _ _).
  - intros a b; rewrite <- Rmult_plus_distr_l; f_equal; induction (S n) as [|k H]; cbn [total]; rewrite ?IHk; try lra.
    assert (A : forall k, total (fun i => a i + b i) k = total a k + total b k) by (induction k0; cbn [total]; lra); rewrite A; ring.
  - intros c a; rewrite <- Rmult_assoc, (Rmult_comm c), Rmult_assoc; f_equal.
    induction (S n); cbn [total]; lra || (assert (A : forall k, total (fun i => c * a i) k = c * total a k) by (induction k; cbn [total]; lra); rewrite A; ring).
  - intros c; assert (A : forall k, total (fun _ => c) k = INR k * c) by (induction k; [cbn; ring | rewrite S_INR; cbn [total]; lra]).
    rewrite A; field; lra.
  - intros a b H; apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat |].
    generalize (S n); induction n0; cbn [total]; [lra | specialize (H n0); lra].
  - intros u w; rewrite dot_scale; f_equal; generalize (S n); induction n0; cbn [total sum]; [apply dot_zero | rewrite dot_add; lra].
Defined.
