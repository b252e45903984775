(* Classes of functions by their textbook definitions, and the inequalities that proofs use, proved from them. *)
From Fedtheory Require Export Spaces.

(* dot products of what a list of vectors spans, with the earlier vector first *)
Ltac sorted_with u us := lazymatch us with (?vs, ?v) => rewrite ?(dot_sym _ u v); sorted_with u vs | tt => idtac end.
Ltac sorted us := lazymatch us with (?vs, ?v) => sorted_with v vs; sorted vs | tt => idtac end.
Ltac expand us := repeat progress dots; sorted us.

Section Classes.
Context {V : space}.
Implicit Types (f r : V -> R) (g : V -> V) (x y z s : V).

(* f is mu-strongly convex (mu > 0), convex (mu = 0) or |mu|-weakly convex (mu < 0) with gradient g: all points, first order *)
Definition strongly_convex mu f g := forall x y, f x + dot (g x) (y - x)%V + mu / 2 * norm2 (y - x)%V <= f y.
(* f is L-smooth with gradient g: the quadratic above *)
Definition smooth L f g := forall x y, f y <= f x + dot (g x) (y - x)%V + L / 2 * norm2 (y - x)%V.
Record in_class L mu f g : Prop := InClass { above : smooth L f g; below : strongly_convex mu f g }.

(* Taylor, Hendrickx, Glineur 2017, Theorem 4 (the half that proofs use) *)
Theorem interpolation L mu f g : mu < L -> in_class L mu f g -> forall x y,
  f y - f x + dot (g y) (x - y)%V
  + (norm2 (g x - g y)%V + mu * L * norm2 (x - y)%V - 2 * mu * dot (g x - g y)%V (x - y)%V) / (2 * (L - mu)) <= 0.
Proof.
  intros H [up low] x y.
  set (z := (x + (/ (L - mu)) *: (g y - g x + mu *: (x - y)))%V).
  pose proof (low y z) as A; pose proof (up x z) as B; subst z.
  revert A B; expand (tt, x, y, g x, g y).
  match goal with |- ?a <= ?c -> ?c' <= ?b -> ?d <= 0 => intros A B; replace d with (a - b) by (field; lra) end; lra.
Qed.

(* the gradient of an L-smooth function is L-Lipschitz *)
Corollary lipschitz L f g : 0 < L -> in_class L (- L) f g -> forall x y, norm2 (g x - g y)%V <= L ^ 2 * norm2 (x - y)%V.
Proof.
  intros H F x y.
  pose proof (interpolation L (- L) f g ltac:(lra) F x y) as A; pose proof (interpolation L (- L) f g ltac:(lra) F y x) as B.
  revert A B; expand (tt, x, y, g x, g y).
  match goal with |- ?a <= 0 -> ?b <= 0 -> ?c <= ?d => intros A B; assert (I : c - d = 2 * L * (a + b)) by (field; lra) end; nra.
Qed.

(* s is a subgradient of r at x *)
Definition subgradient r x s := forall y, r x + dot s (y - x)%V <= r y.
Definition convex r := forall x y t, 0 <= t <= 1 -> r (x + t *: (y - x))%V <= (1 - t) * r x + t * r y.
(* x minimises a function *)
Definition minimises (h : V -> R) x := forall y, h x <= h y.
(* x = prox_{eta r}(z) *)
Definition is_prox eta r z x := minimises (fun y => r y + / (2 * eta) * norm2 (y - z)%V) x.

Lemma small a b : (forall t, 0 < t <= 1 -> a <= t * b) -> a <= 0.
Proof.
  intros H. destruct (Rle_lt_dec a 0) as [|P]; trivial.
  pose proof (H 1 ltac:(lra)) as Q.
  pose proof (H (a / (2 * b)) ltac:(split; [apply Rdiv_lt_0_compat; lra | apply Rmult_le_reg_r with (2 * b); field_simplify; lra])) as S.
  replace (a / (2 * b) * b) with (a / 2) in S by (field; lra); lra.
Qed.

Theorem prox_subgradient eta r z x : 0 < eta -> convex r -> is_prox eta r z x -> subgradient r x (/ eta *: (z - x))%V.
Proof.
  intros P C M y.
  enough (r x + dot (/ eta *: (z - x))%V (y - x)%V - r y <= 0) by lra.
  apply (small _ (norm2 (y - x)%V / (2 * eta))); intros t T.
  pose proof (C x y t ltac:(lra)) as A; pose proof (M (x + t *: (y - x))%V) as B; cbv beta in B; revert B.
  set (v := r (x + t *: (y - x))%V) in *; expand (tt, x, y, z); intros B.
  apply Rmult_le_reg_l with t; [lra|].
  match type of B with ?p <= ?q => match goal with |- ?a <= ?b => assert (I : a - b = p - q + (v - ((1 - t) * r x + t * r y))) by (field; lra) end end; lra.
Qed.

(* where a smooth function is least its gradient vanishes *)
Theorem stationary L f g x : 0 < L -> smooth L f g -> minimises f x -> g x = zero.
Proof.
  intros P U M. apply dot_definite; expand (tt, g x).
  pose proof (U x (x - / L *: g x)%V) as A; pose proof (M (x - / L *: g x)%V) as B; revert A.
  expand (tt, x, g x).
  match goal with |- _ <= ?q -> _ => replace q with (f x - norm2 (g x) / (2 * L)) by (field; lra) end; intros A.
  pose proof (dot_pos _ (g x)) as C.
  assert (norm2 (g x) / (2 * L) <= 0) as D by lra.
  apply (Rmult_le_compat_r (2 * L)) in D; [|lra].
  replace (norm2 (g x) / (2 * L) * (2 * L)) with (norm2 (g x)) in D by (field; lra); lra.
Qed.
End Classes.

(* of all clients at once: values averaged, and every client's gradient at its own point *)
Section Averaged.
Context {V : space} {C : clients V}.
Definition value (f : C -> V -> R) (x : C -> V) : R := E (fun i => f i (x i)).
Definition grad (g : C -> V -> V) (x : C -> V) : C -> V := fun i => g i (x i).
Definition csub (u v : C -> V) : C -> V := cadd u (cscale (-1) v).

Theorem interpolation_E L mu f g : mu < L -> (forall i, in_class L mu (f i) (g i)) -> forall x y : C -> V,
  value f y - value f x + cdot (grad g y) (csub x y)
  + (cdot (csub (grad g x) (grad g y)) (csub (grad g x) (grad g y)) + mu * L * cdot (csub x y) (csub x y)
     - 2 * mu * cdot (csub (grad g x) (grad g y)) (csub x y)) / (2 * (L - mu)) <= 0.
Proof.
  intros H F x y; unfold value, cdot, Rminus, Rdiv.
  replace (- E (fun i => f i (x i))) with (-1 * E (fun i => f i (x i))) by ring.
  match goal with |- context [- (2 * mu * ?e)] => replace (- (2 * mu * e)) with ((-2 * mu) * e) by ring end.
  rewrite (Rmult_comm _ (/ _)), <- !E_scale, <- !E_add, <- !E_scale, <- !E_add.
  apply Rle_trans with (E (fun _ : C => 0)); [apply E_mono; intros i | rewrite E_const; lra].
  pose proof (interpolation L mu (f i) (g i) H (F i) (x i) (y i)) as A; unfold grad, csub, cadd, cscale.
  unfold Rminus, Rdiv in A; lra.
Qed.
Theorem subgradient_E (r : C -> V -> R) (x s : C -> V) : (forall i, subgradient (r i) (x i) (s i)) -> forall y,
  value r x - value r y + cdot s (csub y x) <= 0.
Proof.
  intros H y; unfold value, cdot, Rminus; replace (- E (fun i => r i (y i))) with (-1 * E (fun i => r i (y i))) by ring.
  rewrite <- !E_scale, <- !E_add; apply Rle_trans with (E (fun _ : C => 0)); [apply E_mono; intros i | rewrite E_const; lra].
  pose proof (H i (y i)); unfold csub, cadd, cscale; lra.
Qed.
End Averaged.
Ltac cdots := rewrite ?cdot_add, ?cdot_add_r, ?cdot_scale, ?cdot_scale_r, ?cdot_all, ?cdot_all_l, ?mean_cadd, ?mean_cscale, ?mean_all.
Ltac csorted_with u us := lazymatch us with (?vs, ?v) => rewrite ?(cdot_sym u v); csorted_with u vs | tt => idtac end.
Ltac csorted us := lazymatch us with (?vs, ?v) => csorted_with v vs; csorted vs | tt => idtac end.

