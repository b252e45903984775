(* From one round to all of them: what the rules of proof scripts are. *)
From Fedtheory Require Export Settings Runs.
From Coq Require Export FunctionalExtensionality.
Close Scope Q_scope.
Open Scope R_scope.

(* ---- combinations of inequalities ---------------------------------------------------------------------------------------- *)
Lemma weigh m a b : 0 <= m -> a <= b -> 0 <= m * (b - a).
Proof. intros M H; apply Rmult_le_pos; lra. Qed.
Lemma weigh_equal m a b : a = b -> 0 <= m * (b - a).
Proof. intros ->; lra. Qed.
Lemma both a b : 0 <= a -> 0 <= b -> 0 <= a + b. Proof. lra. Qed.
Lemma nothing : 0 <= 0. Proof. lra. Qed.
Lemma combine c a b total rest : 0 < c -> 0 <= total -> 0 <= rest -> c * (b - a) = total + rest -> a <= b.
Proof. intros C T S H; apply Rmult_le_reg_l with c; trivial; nra. Qed.
Lemma combine_less c a b total rest : 0 < c -> 0 <= total -> 0 < rest -> c * (b - a) = total + rest -> a < b.
Proof. intros C T S H; apply Rmult_lt_reg_l with c; trivial; nra. Qed.
Lemma combine_equal c a b total : c <> 0 -> total = 0 -> c * (b - a) = total -> a = b.
Proof. intros C -> H; apply Rmult_integral in H; lra. Qed.
Lemma weigh_zero m a b : a = b -> m * (b - a) = 0. Proof. intros ->; ring. Qed.
Lemma both_zero a b : a = 0 -> b = 0 -> a + b = 0. Proof. lra. Qed.
Lemma of_difference a b : a - b <= 0 -> a <= b. Proof. lra. Qed.
Lemma same_gap a b u v : u <= v -> b - a = v - u -> a <= b. Proof. lra. Qed.
Lemma same_gap_less a b u v : u < v -> b - a = v - u -> a < b. Proof. lra. Qed.
Lemma same_gap_equal a b u v : u = v -> b - a = v - u -> a = b. Proof. lra. Qed.
Lemma square_nonneg a : 0 <= a ^ 2. Proof. nra. Qed.
Lemma product_nonneg a b c : 0 <= a -> 0 <= b -> c = a * b -> 0 <= c. Proof. intros A B ->; now apply Rmult_le_pos. Qed.
Lemma size_nonneg a b : a + b = 0 -> 0 <= Rmax a b. Proof. pose proof (Rmax_l a b); pose proof (Rmax_r a b); lra. Qed.

(* ---- rounds, powers ---------------------------------------------------------------------------------------------------------- *)
Lemma at_least (k t : nat) (z : Z) : Z.of_nat k = z -> (k <= t)%nat -> IZR z <= INR t.
Proof. intros <- H; rewrite <- INR_IZR_INZ; now apply le_INR. Qed.
Lemma pow_at_most x n : 0 <= x -> x <= 1 -> x ^ n <= 1.
Proof. intros; rewrite <- (pow1 n); now apply pow_incr. Qed.

Lemma sqrt_at_most x : x <= 1 -> sqrt x <= 1.
Proof. intros H; rewrite <- sqrt_1; now apply sqrt_le_1_alt. Qed.
(* a power of a root is the root of the power *)
Lemma power_of_root x n : 0 <= x -> (sqrt x ^ n) ^ 2 = x ^ n.
Proof. intros H; rewrite <- pow_mult, PeanoNat.Nat.mul_comm, pow_mult, pow2_sqrt; trivial. Qed.
Lemma pred_INR n : (0 < n)%nat -> INR (Nat.pred n) = INR n - 1.
Proof. intros H; destruct n as [|n]; [lia|]; cbn [Nat.pred]; rewrite S_INR; lra. Qed.
Lemma pow_pred x n : (0 < n)%nat -> x <> 0 -> x ^ Nat.pred n = x ^ n / x.
Proof. intros H X; destruct n as [|n]; [lia|]; cbn [Nat.pred pow]; field; exact X. Qed.
Lemma succ_pred n : (0 < n)%nat -> S (Nat.pred n) = n.
Proof. lia. Qed.

(* ---- sums over rounds, and the least of their terms --------------------------------------------------------------------------- *)
Lemma sum_next F first last : (first <= S last)%nat -> sum_of F first (S last) = sum_of F first last + F (S last).
Proof.
  intros H; unfold sum_of; replace (S (S last) - first)%nat with (S (S last - first)) by lia; cbn [total].
  now replace (first + (S last - first))%nat with (S last) by lia.
Qed.
Lemma sum_none F first last : (last < first)%nat -> sum_of F first last = 0.
Proof. intros H; unfold sum_of; now replace (S last - first)%nat with O by lia. Qed.
Lemma sum_one F k : sum_of F k k = F k.
Proof. unfold sum_of; replace (S k - k)%nat with 1%nat by lia; cbn [total]; rewrite Nat.add_0_r; ring. Qed.
Lemma least_of_sum F first last c : (first <= last)%nat -> sum_of F first last <= c ->
  exists t, (first <= t <= last)%nat /\ F t * (INR last - INR first + 1) <= c.
Proof.
  intros H; unfold sum_of; rewrite <- minus_INR, <- S_INR by easy; replace (S last - first)%nat with (S (last - first)) by lia.
  assert (L : (first + (last - first) <= last)%nat) by lia; revert L c; generalize (last - first)%nat; intros n; induction n as [|n IH]; intros L c T; cbn [total] in T.
  - exists first; split; [lia|]; rewrite Nat.add_0_r in T; cbn; lra.
  - set (x := F (first + S n)%nat) in *.
    destruct (Rle_lt_dec (x * INR (S (S n))) c) as [Q|Q]; [exists (first + S n)%nat; split; [lia | exact Q]|].
    destruct (IH ltac:(lia) (c - x)) as (t & B & P); [cbn [total]; lra|]; exists t; split; trivial.
    rewrite !S_INR in *; pose proof (pos_INR n); nra.
Qed.
Lemma sum_nonneg F first last : (forall k, (first <= k)%nat -> 0 <= F k) -> 0 <= sum_of F first last.
Proof.
  intros H; unfold sum_of; generalize (S last - first)%nat; intros n; induction n as [|n IH]; cbn [total]; [lra|].
  pose proof (H (first + n)%nat ltac:(lia)); lra.
Qed.
Lemma sum_nonneg_from F first last : (forall j, 0 <= F (first + j)%nat) -> 0 <= sum_of F first last.
Proof. intros H; apply sum_nonneg; intros k K; replace k with (first + (k - first))%nat by lia; apply H. Qed.

(* ---- what holds in every round -------------------------------------------------------------------------------------------------- *)
Lemma from_round (P : nat -> Prop) first : P first -> (forall t, (first <= t)%nat -> P t -> P (S t)) -> forall t, (first <= t)%nat -> P t.
Proof. intros B S t H; induction H; auto. Qed.

Lemma tends_pow x c : 0 <= x < 1 -> tends (fun t => c * x ^ t) 0.
Proof.
  intros X e E; destruct (pow_lt_1_zero x ltac:(rewrite Rabs_pos_eq; lra) (e / (1 + Rabs c))) as [n N].
  { pose proof (Rabs_pos c); apply Rdiv_lt_0_compat; lra. }
  exists n; intros t T; specialize (N t T); rewrite Rminus_0_r, Rabs_mult; pose proof (Rabs_pos c); pose proof (Rabs_pos (x ^ t)).
  apply Rle_lt_trans with ((1 + Rabs c) * Rabs (x ^ t)); [nra|].
  apply Rmult_lt_reg_r with (/ (1 + Rabs c)); [apply Rinv_0_lt_compat; lra|].
  replace ((1 + Rabs c) * Rabs (x ^ t) * / (1 + Rabs c)) with (Rabs (x ^ t)) by (field; lra); exact N.
Qed.
Lemma tends_equal (u v : nat -> R) a : (forall t, u t = v t) -> tends u a -> tends v a.
Proof. intros H T e E; destruct (T e E) as [n N]; exists n; intros t L; rewrite <- H; now apply N. Qed.
Lemma unbounded x : exists n, x < INR n.
Proof.
  exists (Z.to_nat (up x)); pose proof (archimed x) as [A _]; rewrite INR_IZR_INZ; apply Rlt_le_trans with (IZR (up x)); [lra | apply IZR_le; lia].
Qed.
Lemma tends_inverse c : tends (fun t => c / INR t) 0.
Proof.
  intros e E; destruct (unbounded ((1 + Rabs c) / e)) as [n N]; exists (S n); intros t T.
  pose proof (Rabs_pos c); assert (P : 0 < INR t) by (apply lt_0_INR; lia); assert (Q : INR n <= INR t) by (apply le_INR; lia).
  rewrite Rminus_0_r; unfold Rdiv; rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (INR t)) by lra.
  apply Rmult_lt_reg_r with (INR t); trivial; rewrite Rmult_assoc, Rinv_l by lra.
  apply Rmult_lt_compat_r with (r := e) in N; trivial; unfold Rdiv in N; rewrite Rmult_assoc, Rinv_l in N by lra; nra.
Qed.
Lemma tends_sum (u v : nat -> R) a b : tends u a -> tends v b -> tends (fun t => u t + v t) (a + b).
Proof.
  intros U W e E; destruct (U (e / 2) ltac:(lra)) as [n N], (W (e / 2) ltac:(lra)) as [m M]; exists (Nat.max n m); intros t T.
  replace (u t + v t - (a + b)) with ((u t - a) + (v t - b)) by ring.
  pose proof (Rabs_triang (u t - a) (v t - b)); pose proof (N t ltac:(lia)); pose proof (M t ltac:(lia)); lra.
Qed.

(* ---- limits along a set of rounds ------------------------------------------------------------------------------------------------ *)
Lemma tends_all u a : tends_in (fun _ => True) u a -> tends u a.
Proof. intros H e E; destruct (H e E) as [n N]; exists n; intros t T; now apply N. Qed.
Lemma endless_all : endless (fun _ => True).
Proof. intros n; now exists n. Qed.
Lemma tends_along J u a : tends u a -> tends_in J u a.
Proof. intros H e E; destruct (H e E) as [n N]; exists n; intros t T _; now apply N. Qed.
Lemma tends_later u a : tends u a -> tends (fun t => u (S t)) a.
Proof. intros H e E; destruct (H e E) as [n N]; exists n; intros t T; apply N; lia. Qed.
Lemma tends_in_number J c : tends_in J (fun _ => c) c.
Proof. intros e E; exists O; intros; replace (c - c) with 0 by ring; rewrite Rabs_R0; exact E. Qed.
Lemma tends_in_add J (u v : nat -> R) c a b : tends_in J u a -> tends_in J v b -> tends_in J (fun t => c * u t + v t) (c * a + b).
Proof.
  intros U W e E; pose proof (Rabs_pos c) as P.
  destruct (U (e / 2 / (1 + Rabs c)) ltac:(repeat apply Rdiv_lt_0_compat; lra)) as [n N], (W (e / 2) ltac:(lra)) as [m M]; exists (Nat.max n m); intros t T I.
  replace (c * u t + v t - (c * a + b)) with (c * (u t - a) + (v t - b)) by ring.
  specialize (N t ltac:(lia) I); specialize (M t ltac:(lia) I); pose proof (Rabs_triang (c * (u t - a)) (v t - b)) as A; rewrite Rabs_mult in A.
  pose proof (Rabs_pos (u t - a)) as Q; enough (Rabs c * Rabs (u t - a) <= e / 2) by lra.
  apply Rle_trans with ((1 + Rabs c) * Rabs (u t - a)); [nra|].
  apply Rmult_le_reg_r with (/ (1 + Rabs c)); [apply Rinv_0_lt_compat; lra|].
  replace ((1 + Rabs c) * Rabs (u t - a) * / (1 + Rabs c)) with (Rabs (u t - a)) by (field; lra); unfold Rdiv in N; lra.
Qed.
Lemma tends_in_equal J (u v : nat -> R) a b first : (forall t, (first <= t)%nat -> u t = v t) -> a = b -> tends_in J u a -> tends_in J v b.
Proof. intros H <- T e E; destruct (T e E) as [n N]; exists (Nat.max n first); intros t L I; rewrite <- H by lia; apply N; [lia | exact I]. Qed.
Lemma squeeze_in J (u v w : nat -> R) a first : (forall t, (first <= t)%nat -> a + v t <= u t) -> (forall t, (first <= t)%nat -> u t <= a + w t) ->
  tends_in J v 0 -> tends_in J w 0 -> tends_in J u a.
Proof.
  intros L U V W e E; destruct (V e E) as [n N], (W e E) as [m M]; exists (Nat.max (Nat.max n m) first); intros t T I.
  pose proof (N t ltac:(lia) I) as B; pose proof (M t ltac:(lia) I) as D; pose proof (L t ltac:(lia)); pose proof (U t ltac:(lia)).
  rewrite Rminus_0_r in B, D; apply Rabs_def2 in B; apply Rabs_def2 in D; apply Rabs_def1; lra.
Qed.
Lemma tends_in_bounded J (u v : nat -> R) : tends_in J u 0 -> (forall t, Rabs (v t) <= 1) -> tends_in J (fun t => u t * v t) 0.
Proof.
  intros U V e E; destruct (U e E) as [n N]; exists n; intros t T I; specialize (N t T I); specialize (V t); rewrite Rminus_0_r in *.
  rewrite Rabs_mult; pose proof (Rabs_pos (u t)); pose proof (Rabs_pos (v t)); nra.
Qed.
Lemma pow_bounded x : 0 <= x -> 0 <= 1 - x -> forall t, Rabs (x ^ t) <= 1.
Proof. intros X Y t; rewrite Rabs_pos_eq by (now apply pow_le); apply pow_at_most; lra. Qed.
Lemma tends_in_times J (u v : nat -> R) a b : tends_in J u a -> tends_in J v b -> tends_in J (fun t => u t * v t) (a * b).
Proof.
  intros U V.
  assert (P : forall w c, tends_in J w c -> tends_in J (fun t => w t - c) 0) by (intros w c W e E; destruct (W e E) as [n N]; exists n; intros; rewrite Rminus_0_r; now apply N).
  assert (S : forall w, tends_in J w 0 -> forall c, tends_in J (fun t => c * w t) 0).
  { intros w W c; pose proof (tends_in_add J w (fun _ => 0) c 0 0 W (tends_in_number J 0)) as A; rewrite Rmult_0_r, Rplus_0_r in A.
    intros e E; destruct (A e E) as [n N]; exists n; intros t T I; specialize (N t T I); now rewrite Rplus_0_r in N. }
  assert (M : tends_in J (fun t => (u t - a) * (v t - b)) 0).
  { intros e E; destruct (P u a U e E) as [n N], (P v b V 1 ltac:(lra)) as [m M]; exists (Nat.max n m); intros t T I.
    specialize (N t ltac:(lia) I); specialize (M t ltac:(lia) I); rewrite Rminus_0_r in *; rewrite Rabs_mult; pose proof (Rabs_pos (u t - a)); pose proof (Rabs_pos (v t - b)); nra. }
  pose proof (tends_in_add J _ _ 1 0 _ M (tends_in_add J _ _ 1 0 0 (S _ (P v b V) a) (S _ (P u a U) b))) as A; cbv beta in A.
  intros e E; destruct (A e E) as [n N]; exists n; intros t T I; specialize (N t T I).
  replace (u t * v t - a * b) with (1 * ((u t - a) * (v t - b)) + (1 * (a * (v t - b)) + b * (u t - a)) - (1 * 0 + (1 * 0 + 0))) by ring; exact N.
Qed.
Lemma tends_in_over J (u : nat -> R) a : 0 < a -> tends_in J u a -> tends_in J (fun t => / u t) (/ a).
Proof.
  intros A U e E; destruct (U (a / 2) ltac:(lra)) as [n N], (U (e * (a * a) / 2) ltac:(apply Rdiv_lt_0_compat; [repeat apply Rmult_lt_0_compat; lra | lra])) as [m M].
  exists (Nat.max n m); intros t T I; specialize (N t ltac:(lia) I); specialize (M t ltac:(lia) I); apply Rabs_def2 in N.
  replace (/ u t - / a) with ((a - u t) * / (u t * a)) by (field; lra).
  assert (D : 0 < u t * a) by (apply Rmult_lt_0_compat; lra).
  rewrite Rabs_mult, (Rabs_minus_sym a), (Rabs_pos_eq (/ _)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_lt_reg_r with (u t * a); trivial; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rlt_le_trans with (1 := M); assert (a * a / 2 <= u t * a) by nra; unfold Rdiv in *; rewrite Rmult_assoc; apply Rmult_le_compat_l; lra.
Qed.
Lemma tends_in_inverse_power J k : (0 < k)%nat -> tends_in J (fun t => (/ INR t) ^ k) 0.
Proof.
  intros K; destruct k as [|k]; [lia|]; clear K; induction k as [|k IH].
  - apply tends_along; apply (tends_equal (fun t => 1 / INR t)); [intros t; cbn [pow]; unfold Rdiv; ring | apply tends_inverse].
  - intros e E; destruct (IH e E) as [n N]; exists (S n); intros t T I; specialize (N t ltac:(lia) I); rewrite Rminus_0_r in *; cbn [pow] in *; rewrite Rabs_mult.
    assert (P : 1 <= INR t) by (apply (le_INR 1); lia); assert (Q : / INR t <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
    assert (0 < / INR t) by (apply Rinv_0_lt_compat; lra); rewrite (Rabs_pos_eq (/ INR t)) at 1 by lra.
    pose proof (Rabs_pos (/ INR t * (/ INR t) ^ k)); nra.
Qed.
(* t^k x^t, by t y^t <= 1/(1 - y) for the root y of x *)
Lemma round_times_power y t : 0 <= y < 1 -> INR t * y ^ t <= / (1 - y).
Proof.
  intros Y; assert (P : 0 < / (1 - y)) by (apply Rinv_0_lt_compat; lra).
  assert (S : total (fun k => y ^ k) t <= / (1 - y)).
  { apply Rmult_le_reg_r with (1 - y); [lra|]; rewrite Rinv_l by lra.
    assert (G : total (fun k => y ^ k) t * (1 - y) = 1 - y ^ t) by (induction t as [|t IH]; cbn [total pow]; [ring | rewrite Rmult_plus_distr_r, IH; ring]).
    rewrite G; pose proof (pow_le y t ltac:(lra)); lra. }
  apply Rle_trans with (2 := S); clear S P; induction t as [|t IH]; cbn [total]; [cbn; lra|].
  rewrite S_INR; cbn [pow]; pose proof (pow_le y t ltac:(lra)) as Q; pose proof (pos_INR t) as T.
  pose proof (Rmult_le_pos ((INR t + 1) * y ^ t) (1 - y) ltac:(apply Rmult_le_pos; lra) ltac:(lra)); lra.
Qed.
Lemma tends_in_power J k x : 0 <= x < 1 -> tends_in J (fun t => INR t ^ k * x ^ t) 0.
Proof.
  revert x; induction k as [|k IH]; intros x X.
  - apply tends_along, (tends_equal (fun t => 1 * x ^ t)); [intros; cbn; ring | now apply tends_pow].
  - set (y := sqrt x); assert (Y : 0 <= y < 1) by (split; [apply sqrt_pos | unfold y; rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra]).
    assert (XY : x = y * y) by (unfold y; rewrite sqrt_sqrt; lra).
    intros e E; assert (P : 0 < 1 - y) by lra; destruct (IH y Y (e * (1 - y)) ltac:(apply Rmult_lt_0_compat; lra)) as [n N].
    exists n; intros t T I; specialize (N t T I); rewrite Rminus_0_r in *.
    pose proof (round_times_power y t Y) as B; pose proof (pow_le y t ltac:(lra)) as Q; pose proof (pos_INR t) as R0.
    replace (INR t ^ S k * x ^ t) with ((INR t ^ k * y ^ t) * (INR t * y ^ t)) by (rewrite XY, Rpow_mult_distr; cbn [pow]; ring).
    rewrite Rabs_mult, (Rabs_pos_eq (INR t * _)) by (now apply Rmult_le_pos).
    apply Rle_lt_trans with (Rabs (INR t ^ k * y ^ t) * / (1 - y)); [apply Rmult_le_compat_l; [apply Rabs_pos | exact B]|].
    apply Rmult_lt_reg_r with (1 - y); trivial; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.
Lemma limit_in J (v : nat -> R) b first : endless J -> (forall t, (first <= t)%nat -> 0 <= v t) -> tends_in J v b -> 0 <= b.
Proof.
  intros S P V; destruct (Rle_lt_dec 0 b) as [|B]; trivial; destruct (V (- b) ltac:(lra)) as [n N].
  destruct (S (Nat.max n first)) as (t & T & I); pose proof (N t ltac:(lia) I) as A; pose proof (P t ltac:(lia)); apply Rabs_def2 in A; lra.
Qed.
(* terms of a sum that stays below a number: its partial sums rise, and have a least upper bound *)
Lemma series_rule (x : nat -> R) first begin b : (forall t, (begin <= t)%nat -> 0 <= x t) ->
  (forall n, (begin <= n)%nat -> sum_of x first n <= b) -> (first <= begin)%nat -> tends x 0.
Proof.
  intros P B F; set (s := fun n => sum_of x first (begin + n)).
  assert (N : forall n, s (S n) = s n + x (S (begin + n))%nat) by (intros n; unfold s; rewrite Nat.add_succ_r; apply sum_next; lia).
  assert (G : Un_growing s) by (intros n; rewrite N; pose proof (P (S (begin + n)) ltac:(lia)); lra).
  destruct (growing_cv s G) as [l L]; [exists b; intros y [n ->]; apply B; lia|].
  intros e E; destruct (L (e / 2) ltac:(lra)) as [n H]; exists (S (begin + n)); intros t T.
  destruct t as [|t]; [lia|]; pose proof (H (t - begin)%nat ltac:(lia)) as H1; pose proof (H (S (t - begin))%nat ltac:(lia)) as H2.
  unfold R_dist in *; rewrite N in H2; replace (S (begin + (t - begin))) with (S t) in H2 by lia; apply Rabs_def2 in H1; apply Rabs_def2 in H2.
  rewrite Rminus_0_r; apply Rabs_def1; lra.
Qed.
Section Falling.
Variables (J : nat -> Prop) (u : nat -> R) (a : R) (first : nat).
Hypotheses (S_ : endless J) (falls : forall t, (first <= t)%nat -> u (S t) <= u t) (limit : tends_in J u a).
Lemma falling t k : (first <= t)%nat -> u (t + k)%nat <= u t.
Proof.
  intros T; induction k as [|k IH]; [rewrite Nat.add_0_r; lra|]; rewrite Nat.add_succ_r; pose proof (falls (t + k)%nat ltac:(lia)); lra.
Qed.
Lemma above_limit t : (first <= t)%nat -> a <= u t.
Proof.
  intros T; destruct (Rle_lt_dec a (u t)) as [|B]; trivial; destruct (limit (a - u t) ltac:(lra)) as [n N].
  destruct (S_ (Nat.max n t)) as (k & K & I); pose proof (N k ltac:(lia) I) as A; apply Rabs_def2 in A.
  pose proof (falling t (k - t) T) as F; replace (t + (k - t))%nat with k in F by lia; lra.
Qed.
Lemma falls_to_limit : tends u a.
Proof.
  intros e E; destruct (limit e E) as [n N]; destruct (S_ (Nat.max n first)) as (k & K & I); exists k; intros t T.
  pose proof (N k ltac:(lia) I) as A; apply Rabs_def2 in A; pose proof (above_limit t ltac:(lia)).
  pose proof (falling k (t - k) ltac:(lia)) as F; replace (k + (t - k))%nat with t in F by lia; apply Rabs_def1; lra.
Qed.
End Falling.

(* ---- roots, the best of all s > 0, cases, Bernoulli and the exponential ---------------------------------------------------------- *)
Lemma root_rule x y : x ^ 2 <= y ^ 2 -> 0 <= y -> x <= y.
Proof. intros; nra. Qed.
Lemma least_rule x a b : 0 <= a -> 0 <= b -> (forall s, 0 < s -> x <= s * a + b / s) -> x <= 2 * (sqrt a * sqrt b).
Proof.
  intros A B H; pose proof (sqrt_pos a) as P; pose proof (sqrt_pos b) as Q; pose proof (sqrt_sqrt a A) as SA; pose proof (sqrt_sqrt b B) as SB.
  apply le_epsilon; intros e E.
  set (d := e / (1 + sqrt a + sqrt b)) in *; assert (D : 0 < d) by (apply Rdiv_lt_0_compat; lra).
  assert (Y : d * (sqrt a + sqrt b) <= e).
  { unfold d; apply Rmult_le_reg_r with (1 + sqrt a + sqrt b); [lra|].
    replace (e / (1 + sqrt a + sqrt b) * (sqrt a + sqrt b) * (1 + sqrt a + sqrt b)) with (e * (sqrt a + sqrt b)) by (field; lra); nra. }
  clearbody d.
  pose proof (H ((sqrt b + d) / (sqrt a + d)) ltac:(apply Rdiv_lt_0_compat; lra)) as K.
  apply Rle_trans with (1 := K).
  replace (b / ((sqrt b + d) / (sqrt a + d))) with (b * (sqrt a + d) / (sqrt b + d)) by (field; lra).
  assert (X1 : (sqrt b + d) / (sqrt a + d) * a <= (sqrt b + d) * sqrt a).
  { apply Rmult_le_reg_r with (sqrt a + d); [lra|]; replace ((sqrt b + d) / (sqrt a + d) * a * (sqrt a + d)) with ((sqrt b + d) * a) by (field; lra).
    replace ((sqrt b + d) * sqrt a * (sqrt a + d)) with ((sqrt b + d) * (sqrt a * sqrt a) + (sqrt b + d) * (sqrt a * d)) by ring; rewrite SA.
    assert (0 <= (sqrt b + d) * (sqrt a * d)) by (repeat apply Rmult_le_pos; lra); lra. }
  assert (X2 : b * (sqrt a + d) / (sqrt b + d) <= sqrt b * (sqrt a + d)).
  { apply Rmult_le_reg_r with (sqrt b + d); [lra|]; replace (b * (sqrt a + d) / (sqrt b + d) * (sqrt b + d)) with (b * (sqrt a + d)) by (field; lra).
    replace (sqrt b * (sqrt a + d) * (sqrt b + d)) with ((sqrt b * sqrt b) * (sqrt a + d) + sqrt b * d * (sqrt a + d)) by ring; rewrite SB.
    assert (0 <= sqrt b * d * (sqrt a + d)) by (repeat apply Rmult_le_pos; lra); lra. }
  nra.
Qed.
Lemma cases_rule e (P : Prop) : (0 <= e -> P) -> (0 <= - e -> P) -> P.
Proof. intros A B; destruct (Rle_lt_dec 0 e); [apply A | apply B]; lra. Qed.
Lemma exponential_rule x : 1 + x <= exp x.
Proof. apply exp_ineq1_le. Qed.
Lemma log_at_most y : 0 < y -> ln y <= y - 1.
Proof. intros Y; pose proof (exponential_rule (ln y)) as H; rewrite exp_ln in H; lra. Qed.
(* Bernoulli's inequality for real exponents, from concavity of the logarithm *)
Lemma bernoulli_above x s : -1 < x -> 1 <= s -> 1 + s * x <= Rpower (1 + x) s.
Proof.
  intros X S; destruct (Rle_lt_dec (1 + s * x) 0) as [N|P]; [unfold Rpower; pose proof (exp_pos (s * ln (1 + x))); lra|].
  assert (L : ln (1 + s * x) <= s * ln (1 + x)).
  { set (y := 1 + x) in *; assert (Y : 0 < y) by (unfold y; lra).
    (* ln (1 + s x) - ln y <= (1 + s x)/y - 1, and -ln y <= 1/y - 1 *)
    pose proof (log_at_most ((1 + s * x) / y) ltac:(apply Rdiv_lt_0_compat; lra)) as A.
    pose proof (log_at_most (/ y) ltac:(now apply Rinv_0_lt_compat)) as B.
    rewrite ln_Rinv in B by easy; unfold Rdiv in A; rewrite ln_mult, ln_Rinv in A by (try apply Rinv_0_lt_compat; lra).
    assert (I : (1 + s * x) * / y - 1 = (s - 1) * (1 - / y)) by (unfold y; field; lra).
    nra. }
  rewrite <- (exp_ln (1 + s * x) P); unfold Rpower; destruct L as [L| ->]; [left; now apply exp_increasing | lra].
Qed.
Lemma bernoulli_negative x s : -1 < x -> s <= 0 -> 1 + s * x <= Rpower (1 + x) s.
Proof.
  intros X S; unfold Rpower; apply Rle_trans with (1 + s * ln (1 + x)); [|apply exponential_rule].
  pose proof (log_at_most (1 + x) ltac:(lra)); nra.
Qed.
Lemma bernoulli_between x s : -1 < x -> 0 <= s <= 1 -> Rpower (1 + x) s <= 1 + s * x.
Proof.
  intros X S; set (y := 1 + x) in *; assert (Y : 0 < y) by (unfold y; lra).
  assert (P : 0 < 1 + s * x) by (replace (1 + s * x) with ((1 - s) + s * y) by (unfold y; ring); destruct (Rle_lt_dec s (1 / 2)); nra).
  assert (L : s * ln y <= ln (1 + s * x)).
  { pose proof (log_at_most (y / (1 + s * x)) ltac:(apply Rdiv_lt_0_compat; lra)) as A.
    pose proof (log_at_most (/ (1 + s * x)) ltac:(now apply Rinv_0_lt_compat)) as B.
    rewrite ln_Rinv in B by easy; unfold Rdiv in A; rewrite ln_mult, ln_Rinv in A by (try apply Rinv_0_lt_compat; lra).
    assert (I : s * (y * / (1 + s * x) - 1) + (1 - s) * (/ (1 + s * x) - 1) = 0) by (unfold y; field; lra).
    nra. }
  rewrite <- (exp_ln (1 + s * x) P); unfold Rpower; destruct L as [L| ->]; [left; now apply exp_increasing | lra].
Qed.
Lemma Rpower_positive x s : 0 < Rpower x s.
Proof. apply exp_pos. Qed.
Lemma Rpower_at_most x s : 0 < x -> x <= 1 -> 0 <= s -> Rpower x s <= 1.
Proof. intros X A S; unfold Rpower; rewrite <- exp_0; pose proof (log_at_most x X); destruct (Rle_lt_or_eq_dec (s * ln x) 0) as [L|L]; [nra | left; now apply exp_increasing | rewrite L; lra]. Qed.
Lemma Rpower_at_least x s : 1 <= x -> 0 <= s -> 1 <= Rpower x s.
Proof. intros X S; unfold Rpower; rewrite <- exp_0; assert (L : 0 <= ln x) by (rewrite <- ln_1; destruct X as [X| <-]; [left; apply ln_increasing; lra | lra]); destruct (Rle_lt_or_eq_dec 0 (s * ln x)) as [P|P]; [nra | left; now apply exp_increasing | rewrite <- P; lra]. Qed.
Lemma power_rule a b s : 0 < a -> a <= b -> 0 <= s -> Rpower a s <= Rpower b s.
Proof. intros; now apply Rle_Rpower_l. Qed.
Lemma ln_power x n : 0 < x -> ln (x ^ n) = INR n * ln x.
Proof. intros X; induction n as [|n IH]; [cbn; rewrite ln_1; ring|]; rewrite S_INR; cbn [pow]; rewrite ln_mult by (trivial; now apply pow_lt); rewrite IH; ring. Qed.
Lemma ln_Rpower x s : ln (Rpower x s) = s * ln x.
Proof. apply ln_exp. Qed.
Lemma ln_sqrt x : 0 < x -> ln (sqrt x) = / 2 * ln x.
Proof.
  intros X; pose proof (sqrt_lt_R0 x X) as P; rewrite <- (sqrt_sqrt x) at 2 by lra; rewrite ln_mult by trivial; field.
Qed.
Ltac positive := repeat first [assumption | apply exp_pos | apply Rpower_positive | apply sqrt_lt_R0 | apply pow_lt | apply Rmult_lt_0_compat | apply Rinv_0_lt_compat | lra].
Ltac logs := unfold Rdiv; repeat first [rewrite ln_Rpower | rewrite ln_exp | rewrite ln_1 | rewrite ln_mult by positive | rewrite ln_Rinv by positive | rewrite ln_power by positive | rewrite ln_sqrt by positive];
  repeat match goal with |- context [INR (S ?k)] => is_ground k; let v := eval cbn [INR] in (INR (S k)) in change (INR (S k)) with v end.
(* two products of powers are the same where their logarithms are *)
Ltac by_logs := apply ln_inv; [unfold Rdiv; positive | unfold Rdiv; positive | logs].

(* ---- from any state to all rounds ------------------------------------------------------------------------------------------------ *)
Section Rounds.
Context {S : Type}.
Implicit Types (phi psi : S -> R) (s : S).
Definition combined (l : list (R * (S -> R))) s : R := fold_right (fun part rest => fst part * snd part s + rest) 0 l.
Variables (outcomes : list (R * (S -> S))) (kept : S -> Prop).
Lemma step_ext phi psi : (forall s, phi s = psi s) -> forall s, step outcomes phi s = step outcomes psi s.
Proof. intros H s; unfold step; induction outcomes as [|o os IH]; cbn [fold_right]; trivial; now rewrite IH, H. Qed.
Lemma step_linear a phi psi s : step outcomes (fun s => a * phi s + psi s) s = a * step outcomes phi s + step outcomes psi s.
Proof. unfold step; induction outcomes as [|o os IH]; cbn [fold_right]; [ring | rewrite IH; ring]. Qed.
Lemma expected_ext t : forall phi psi, (forall s, phi s = psi s) -> forall s, expected outcomes t phi s = expected outcomes t psi s.
Proof. induction t as [|t IH]; intros phi psi H s; cbn [expected]; trivial; apply IH; now apply step_ext. Qed.
Lemma expected_linear t a : forall phi psi s, expected outcomes t (fun s => a * phi s + psi s) s = a * expected outcomes t phi s + expected outcomes t psi s.
Proof.
  induction t as [|t IH]; intros phi psi s; cbn [expected]; trivial; rewrite <- IH; apply expected_ext; intros; apply step_linear.
Qed.
Hypothesis total_one : fold_right (fun o rest => fst o + rest) 0 outcomes = 1.
Lemma step_const c s : step outcomes (fun _ => c) s = c.
Proof.
  unfold step; transitivity (c * fold_right (fun o rest => fst o + rest) 0 outcomes); [|rewrite total_one; ring].
  clear total_one; induction outcomes as [|o os IH]; cbn [fold_right]; [ring | rewrite IH; ring].
Qed.
Lemma expected_const t c s : expected outcomes t (fun _ => c) s = c.
Proof. induction t as [|t IH]; cbn [expected]; trivial; transitivity (expected outcomes t (fun _ => c) s); trivial; apply expected_ext; intros; apply step_const. Qed.
Lemma expected_combined t b l s : expected outcomes t (fun s => b + combined l s) s = b + fold_right (fun part rest => fst part * expected outcomes t (snd part) s + rest) 0 l.
Proof.
  assert (Z : expected outcomes t (combined l) s = fold_right (fun part rest => fst part * expected outcomes t (snd part) s + rest) 0 l).
  { induction l as [|[a phi] l IH]; cbn [fold_right fst snd]; [apply (expected_const t 0)|]; rewrite <- IH, <- expected_linear; now apply expected_ext. }
  rewrite <- Z; transitivity (expected outcomes t (fun s => 1 * combined l s + b) s); [apply expected_ext; intros; ring|].
  rewrite (expected_linear t 1 (combined l) (fun _ => b)), expected_const; ring.
Qed.
Hypotheses (chances : Forall (fun o => 0 <= fst o) outcomes) (keeps : Forall (fun o => forall s, kept s -> kept (snd o s)) outcomes).
Lemma step_most phi : (forall s, kept s -> phi s <= 0) -> forall s, kept s -> step outcomes phi s <= 0.
Proof.
  intros H s K; unfold step; clear total_one; induction outcomes as [|o os IH]; cbn [fold_right]; [lra|].
  inversion_clear chances as [|? ? C1 C2]; inversion_clear keeps as [|? ? K1 K2]; specialize (IH C2 K2); pose proof (H _ (K1 s K)); nra.
Qed.
Lemma expected_most t : forall phi, (forall s, kept s -> phi s <= 0) -> forall s, kept s -> expected outcomes t phi s <= 0.
Proof. induction t as [|t IH]; intros phi H s K; cbn [expected]; [now apply H | apply IH; trivial; now apply step_most]. Qed.
Theorem in_every_round b l : (forall s, kept s -> b + combined l s <= 0) -> forall t s, kept s ->
  b + fold_right (fun part rest => fst part * expected outcomes t (snd part) s + rest) 0 l <= 0.
Proof. intros H t s K; rewrite <- expected_combined; now apply expected_most. Qed.
End Rounds.
(* without coins *)
Lemma expected_run {S : Type} (round : S -> S) t phi s : expected [(1, round)] t phi s = phi (run round t s).
Proof.
  revert phi; induction t as [|t IH]; intros phi; cbn [expected run]; trivial; rewrite IH; unfold step; cbn [fold_right fst snd]; ring.
Qed.

(* ---- from any state, and what is drawn after it, to laws of states ----------------------------------------------------------------- *)
Section Laws.
Context {S : Type}.
Implicit Types (phi : S -> R) (law later : list (R * S)) (l : list (R * (S -> R))).
Definition averaged l law : R := fold_right (fun part rest => fst part * mean_over (snd part) law + rest) 0 l.
Lemma mean_linear a phi psi law : mean_over (fun s => a * phi s + psi s) law = a * mean_over phi law + mean_over psi law.
Proof. unfold mean_over; induction law as [|o os IH]; cbn [fold_right]; [ring | rewrite IH; ring]. Qed.
Lemma mean_combined l law : mean_over (combined l) law = averaged l law.
Proof.
  induction l as [|[a phi] l IH].
  - unfold mean_over; induction law as [|o os IH]; cbn in *; [|rewrite IH]; ring.
  - transitivity (a * mean_over phi law + mean_over (combined l) law); [apply mean_linear | now rewrite IH].
Qed.
Lemma mean_const b law : is_law law -> mean_over (fun _ => b) law = b.
Proof.
  intros [_ T]; transitivity (b * fold_right (fun o rest => fst o + rest) 0 law); [clear T | rewrite T; ring].
  unfold mean_over; induction law as [|o os IH]; cbn [fold_right]; [|rewrite IH]; ring.
Qed.
Lemma mean_app phi law later : mean_over phi (law ++ later) = mean_over phi law + mean_over phi later.
Proof. unfold mean_over; induction law as [|o os IH]; cbn [fold_right app]; [|rewrite IH]; ring. Qed.
Lemma mean_times p phi law : mean_over phi (map (fun o => (p * fst o, snd o)) law) = p * mean_over phi law.
Proof. unfold mean_over; induction law as [|o os IH]; cbn [fold_right map fst snd]; [|rewrite IH]; ring. Qed.
Lemma mean_shift b l law : is_law law -> mean_over (fun s => b + combined l s) law = b + averaged l law.
Proof.
  intros L; rewrite <- mean_combined; transitivity (mean_over (fun _ => b) law + mean_over (combined l) law); [|now rewrite mean_const].
  clear L; unfold mean_over; induction law as [|o os IH]; cbn [fold_right]; [|rewrite IH]; ring.
Qed.
Lemma mean_most phi law : is_law law -> Forall (fun o => phi (snd o) <= 0) law -> mean_over phi law <= 0.
Proof.
  intros [P _] H; unfold mean_over; induction H as [|o os H0 H1 IH]; cbn [fold_right]; [lra|].
  inversion_clear P as [|? ? P0 P1]; specialize (IH P1); nra.
Qed.
Lemma mean_later phi law branches : List.length law = List.length branches ->
  mean_over phi (flat_map (fun pair => map (fun o => (fst (fst pair) * fst o, snd o)) (snd pair)) (List.combine law branches))
  = fold_right (fun pair rest => fst (fst pair) * mean_over phi (snd pair) + rest) 0 (List.combine law branches).
Proof.
  revert branches; induction law as [|o os IH]; intros [|branch bs] E; try discriminate; cbn [List.combine flat_map fold_right fst snd]; [reflexivity|].
  rewrite mean_app, mean_times, IH; [reflexivity | now injection E].
Qed.
Theorem on_average (next : S -> list (R * S) -> Prop) l l' b law later : is_law law -> drawn_from next law later ->
  (forall s branch, next s branch -> b + combined l s + mean_over (combined l') branch <= 0) -> b + averaged l law + averaged l' later <= 0.
Proof.
  intros L (branches & F & ->) H; rewrite <- (mean_shift b l law L), <- (mean_combined l'), mean_later by (clear - F; induction F; cbn; congruence).
  destruct L as [P _]; induction F as [|o branch os bs N F IH]; cbn [List.combine fold_right fst snd]; [unfold mean_over; cbn; lra|].
  inversion_clear P as [|? ? P0 P1]; specialize (IH P1); specialize (H _ _ N).
  change (mean_over (fun s => b + combined l s) (o :: os)) with (fst o * (b + combined l (snd o)) + mean_over (fun s => b + combined l s) os); nra.
Qed.
Theorem on_average_here (known : S -> Prop) l b law : is_law law -> Forall (fun o => known (snd o)) law ->
  (forall s, known s -> b + combined l s <= 0) -> b + averaged l law <= 0.
Proof.
  intros L K H; rewrite <- (mean_shift b l law L); apply mean_most; trivial; revert K; apply Forall_impl; intros; now apply H.
Qed.
End Laws.

(* ---- what is left to arithmetic ------------------------------------------------------------------------------------------------------ *)
Lemma of_product f q e : 0 < f -> 0 <= e -> q = f * e -> 0 <= q.
Proof. intros F H ->; apply Rmult_le_pos; lra. Qed.
Lemma of_gap a b e : e <= 0 -> a - b = e -> a <= b. Proof. lra. Qed.
Lemma of_gaps a b e : e <= 0 -> - e <= 0 -> a - b = e -> a = b. Proof. lra. Qed.
Ltac nonzero := repeat split; first [assumption | apply Rgt_not_eq; assumption | lra | apply pow_nonzero; lra | apply Rgt_not_eq; apply Rpower_positive | apply Rgt_not_eq; apply exp_pos | apply Rgt_not_eq; nra | apply Rlt_not_eq; nra | nra].
Ltac earlier := repeat match goal with |- context [?x ^ Nat.pred ?n] => rewrite (pow_pred x n) by (lia || nonzero) end.
Ltac normal := earlier; repeat (rewrite succ_pred by lia); repeat (rewrite pred_INR by lia); rewrite ?S_INR; try (change (INR 0) with 0); repeat (rewrite sum_next by lia); rewrite ?sum_one; repeat (rewrite sum_none by lia); rewrite ?S_INR; cbn [pow]; rewrite ?sqrt_1; try (change (INR 0) with 0).
Ltac normal_of H := repeat (rewrite succ_pred in H by lia); repeat (rewrite pred_INR in H by lia); rewrite ?S_INR in H; try (change (INR 0) with 0 in H);
  repeat (rewrite sum_next in H by lia); rewrite ?sum_one in H; repeat (rewrite sum_none in H by lia); rewrite ?S_INR in H; cbn [pow] in H.
(* powers of one number that is written in two ways *)
Ltac bases_alike := repeat match goal with
  |- context [?x ^ ?k] => is_var k; match goal with |- context [?y ^ k] => tryif constr_eq x y then fail else replace (y ^ k) with (x ^ k) by (f_equal; lra) end end.
Ltac powers := earlier; unfold Rdiv; repeat (rewrite Rpow_mult_distr || rewrite pow_inv || rewrite <- pow_mult);
  rewrite ?pow1; repeat match goal with |- context [pow _ (?k * ?n)] => is_var n; rewrite (PeanoNat.Nat.mul_comm k n) end.
(* real exponents that are sums, and bases that are the same *)
Ltac apart := repeat match goal with
  | |- context [exp ((?a + ?b) * ?c)] => replace (exp ((a + b) * c)) with (exp (a * c) * exp (b * c)) by (rewrite <- exp_plus; f_equal; ring)
  | |- context [exp ((?a - ?b) * ?c)] => replace (exp ((a - b) * c)) with (exp (a * c) * / exp (b * c)) by (rewrite <- exp_Ropp, <- exp_plus; f_equal; ring)
  | |- context [exp (?c * (?a + ?b))] => replace (exp (c * (a + b))) with (exp (c * a) * exp (c * b)) by (rewrite <- exp_plus; f_equal; ring)
  | |- context [exp (?c * (?a - ?b))] => replace (exp (c * (a - b))) with (exp (c * a) * / exp (c * b)) by (rewrite <- exp_Ropp, <- exp_plus; f_equal; ring)
  | |- context [exp (1 * ?c)] => replace (exp (1 * c)) with (exp c) by (f_equal; ring)
  | |- context [exp (?c * 1)] => replace (exp (c * 1)) with (exp c) by (f_equal; ring)
  | |- context [exp (0 * ?c)] => replace (exp (0 * c)) with 1 by (rewrite Rmult_0_l; symmetry; apply exp_0)
  | |- context [exp (?c * 0)] => replace (exp (c * 0)) with 1 by (rewrite Rmult_0_r; symmetry; apply exp_0)
  end; rewrite ?exp_0.
Lemma Rpower_one a s : a = 1 -> Rpower a s = 1.
Proof. intros ->; unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0. Qed.
(* each power has a name meanwhile, for a pair to be compared once, however often it stands *)
Ltac alike := apart; repeat match goal with |- context [Rpower ?a ?s] => rewrite (Rpower_one a s) by ring end;
  repeat match goal with |- context [Rpower ?a ?s] => let p := fresh "power" in let is_p := fresh "is_power" in remember (Rpower a s) as p eqn:is_p end;
  repeat match goal with
  | H : _ = Rpower ?a ?s, K : ?q = Rpower ?b ?s |- _ => replace (Rpower b s) with (Rpower a s) in K by (f_equal; ring); rewrite <- H in K; subst q
  | H : _ = Rpower (IZR ?k) ?s, K : _ = Rpower ?b ?s, J : ?p = Rpower ?a ?s |- _ =>
      replace (Rpower a s) with (Rpower (IZR k) s * Rpower b s) in J by (rewrite Rpower_mult_distr by lra; f_equal; field); rewrite <- H, <- K in J; subst p
  end; repeat match goal with is_power : ?p = Rpower _ _ |- _ => subst p end.
Lemma zero_from {V : space} (u : V) : dot u u <= 0 -> u = zero.
Proof. intros H; apply dot_definite; pose proof (dot_pos _ u); repeat progress dots; lra. Qed.
Lemma equal_from {V : space} (u v : V) : dot (u - v)%V (u - v)%V <= 0 -> u = v.
Proof. intros H; apply dot_definite; pose proof (dot_pos _ (u - v)%V); lra. Qed.
