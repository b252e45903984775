(* Signs of polynomials on regions: each parameter lies between two expressions in those before it. A parameter is written as
   low + t, or (low + high t)/(1 + t), with t >= 0; a polynomial in these t whose coefficients are not negative is not negative,
   and where some are, ranges of t are halved (Bernstein), or one t is taken as the unit (weights that all terms share). *)
From Fedtheory Require Export Numbers.
From Coq Require Import QArith Qreals ZArith Bool Ring_polynom Lia.
Close Scope Q_scope.
Open Scope R_scope.

Record range := Range { low : rexp; low_closed : bool; high : option rexp; high_closed : bool }.
Definition at_most (closed : bool) (a b : R) : Prop := if closed then a <= b else a < b.
Fixpoint in_region (l : list R) (rs : list range) (i : nat) : Prop :=
  match rs with
  | [] => True
  | r :: rs => at_most (low_closed r) (rval l (low r)) (nth i l 0)
      /\ match high r with Some h => at_most (high_closed r) (nth i l 0) (rval l h) | None => True end
      /\ in_region l rs (S i)
  end.

(* ---- coefficients that are not negative -------------------------------------------------------------------------------- *)
(* which of the variables are above zero; all are at least zero *)
Definition flagged (pos : list bool) (ts : list R) : Prop := forall k, 0 <= nth k ts 0 /\ (nth k pos false = true -> 0 < nth k ts 0).
Fixpoint only_positive (pos : list bool) (e : list nat) : bool :=
  match e with [] => true | n :: e => ((Nat.eqb n 0 || hd false pos) && only_positive (tl pos) e)%bool end.
Definition no_negative (ts : list pterm) : bool := forallb (fun t => Qle_bool 0 (fst t)) ts.
Definition some_positive (pos : list bool) (ts : list pterm) : bool :=
  existsb (fun t => negb (Qle_bool (fst t) 0) && only_positive pos (snd t))%bool ts.
Lemma flagged_tl pos ts : flagged pos ts -> flagged (tl pos) (tl ts).
Proof. intros H k; specialize (H (S k)); destruct pos, ts; cbn [nth tl] in *; destruct k; easy. Qed.
Lemma monomial_nonneg pos ts : flagged pos ts -> forall e, 0 <= monomial ts e.
Proof.
  intros H e; revert pos ts H; induction e as [|n e IH]; intros pos ts H; cbn [monomial]; [lra|].
  apply Rmult_le_pos; [apply pow_le | apply (IH _ _ (flagged_tl _ _ H))]; destruct (H O) as [P _]; now destruct ts.
Qed.
Lemma monomial_pos pos ts : flagged pos ts -> forall e, only_positive pos e = true -> 0 < monomial ts e.
Proof.
  intros H e; revert pos ts H; induction e as [|n e IH]; intros pos ts H P; cbn [monomial only_positive] in *; [lra|].
  apply andb_prop in P as [P Q]; apply Rmult_lt_0_compat; [|apply (IH _ _ (flagged_tl _ _ H) Q)].
  destruct (Nat.eqb_spec n 0) as [->|]; [cbn; lra|]; apply pow_lt; destruct (H O) as [_ S]; destruct pos, ts; cbn in *; auto; discriminate.
Qed.
Lemma no_negative_ok pos ts p : flagged pos ts -> no_negative p = true -> 0 <= terms_value ts p.
Proof.
  intros H; induction p as [|t p IH]; intros N; cbn [no_negative forallb terms_value] in *; [lra|].
  apply andb_prop in N as [N1 N2]; specialize (IH N2); unfold term_value.
  pose proof (Q2R_nonneg _ N1); pose proof (monomial_nonneg _ _ H (snd t)); nra.
Qed.
Lemma some_positive_ok pos ts p : flagged pos ts -> no_negative p = true -> some_positive pos p = true -> 0 < terms_value ts p.
Proof.
  intros H; induction p as [|t p IH]; intros N S; [discriminate|].
  pose proof (no_negative_ok pos ts (t :: p) H N) as G; cbn [no_negative forallb terms_value some_positive existsb] in *.
  apply andb_prop in N as [N1 N2]; apply orb_prop in S as [S|S].
  - apply andb_prop in S as [S1 S2]; apply negb_true_iff, Q2R_pos in S1; unfold term_value in *.
    pose proof (monomial_pos _ _ H _ S2); pose proof (no_negative_ok pos ts p H N2); nra.
  - specialize (IH N2 S); unfold term_value; pose proof (Q2R_nonneg _ N1); pose proof (monomial_nonneg _ _ H (snd t)); nra.
Qed.
Definition positive_poly (pos : list bool) (p : polynomial) : bool := let ts := terms_of p in (no_negative ts && some_positive pos ts)%bool.
Lemma positive_poly_ok pos ts p : flagged pos ts -> positive_poly pos p = true -> 0 < peval ts p.
Proof. intros H P; apply andb_prop in P as [P Q]; rewrite <- terms_ok; now apply (some_positive_ok pos). Qed.

(* ---- quotients in the place of variables ------------------------------------------------------------------------------- *)
Definition fraction := (polynomial * polynomial)%type.
Definition is_fraction (ts : list R) (x : R) (f : fraction) : Prop := 0 < peval ts (snd f) /\ x * peval ts (snd f) = peval ts (fst f).
(* N^k D^(d - k), for k = 0, ..., d *)
Definition table (f : fraction) (d : nat) : list polynomial := map (fun k => pmul (ppow (fst f) k) (ppow (snd f) (d - k))) (seq 0 (S d)).
Fixpoint degrees (n : nat) (ts : list pterm) : list nat :=
  match n with O => [] | S n => fold_right (fun t d => Nat.max (hd O (snd t)) d) O ts :: degrees n (map (fun t => (fst t, tl (snd t))) ts) end.
Lemma degrees_length n : forall ts, length (degrees n ts) = n.
Proof. induction n as [|n IH]; intros ts; cbn [degrees length]; [|rewrite IH]; reflexivity. Qed.
Fixpoint substitute_term (tables : list (list polynomial)) (e : list nat) : option polynomial :=
  match tables, e with
  | [], [] => Some (pconst 1%Q)
  | [], _ => None
  | t :: tables, e => match nth_error t (hd O e), substitute_term tables (tl e) with
      | Some p, Some q => Some (pmul q p) | _, _ => None end
  end.
Fixpoint substitute_terms (tables : list (list polynomial)) (ts : list pterm) : option polynomial :=
  match ts with
  | [] => Some (pconst 0%Q)
  | t :: ts => match substitute_term tables (snd t), substitute_terms tables ts with
      | Some p, Some r => Some (padd (pscale (fst t) p) r) | _, _ => None end
  end.
Definition substitute (fs : list fraction) (p : polynomial) : option polynomial :=
  let ts := terms_of p in
  let ds := degrees (length fs) ts in
  substitute_terms (map (fun fd => table (fst fd) (snd fd)) (combine fs ds)) ts.

Fixpoint scale_of (ts : list R) (fs : list fraction) (ds : list nat) : R :=
  match fs, ds with f :: fs, d :: ds => peval ts (snd f) ^ d * scale_of ts fs ds | _, _ => 1 end.
Lemma scale_pos ts l fs : Forall2 (is_fraction ts) l fs -> forall ds, 0 < scale_of ts fs ds.
Proof. induction 1 as [|x f l fs [P E] F IH]; intros [|d ds]; cbn; try lra; apply Rmult_lt_0_compat; [now apply pow_lt | apply IH]. Qed.
Lemma substitute_term_ok ts l fs : Forall2 (is_fraction ts) l fs -> forall ds, length ds = length fs -> forall e p,
  substitute_term (map (fun fd => table (fst fd) (snd fd)) (combine fs ds)) e = Some p -> peval ts p = monomial l e * scale_of ts fs ds.
Proof.
  induction 1 as [|x f l fs [P E] F IH]; intros [|d ds] L e p H; try discriminate L.
  - destruct e; [|discriminate]; apply some_injective in H; subst p; cbn [monomial scale_of]; rewrite peval_const, Q2R_1; ring.
  - cbn [combine map substitute_term fst snd] in H; destruct (nth_error (table f d) (hd O e)) as [a|] eqn:A; [|discriminate].
    destruct (substitute_term _ (tl e)) as [b|] eqn:B; [|discriminate]; apply some_injective in H; subst p; injection L as L.
    rewrite peval_mul, (IH ds L _ _ B); cbn [scale_of].
    set (k := hd O e) in *; assert (M : monomial (x :: l) e = x ^ k * monomial l (tl e)) by (subst k; destruct e; cbn; ring).
    rewrite M; unfold table in A; rewrite nth_error_map in A.
    destruct (nth_error (seq 0 (S d)) k) as [j|] eqn:J; [|discriminate]; cbn in A; apply some_injective in A; subst a.
    assert (K : (k < S d)%nat) by (rewrite <- (seq_length (S d) 0); apply nth_error_Some; congruence).
    rewrite (nth_error_nth' _ O), seq_nth in J by (rewrite ?seq_length; easy); apply some_injective in J; cbn in J; subst j.
    rewrite peval_mul, !peval_pow, <- E, Rpow_mult_distr.
    replace (peval ts (snd f) ^ d) with (peval ts (snd f) ^ k * peval ts (snd f) ^ (d - k)) by (rewrite <- pow_add; f_equal; lia); ring.
Qed.
Lemma substitute_ok ts l fs : Forall2 (is_fraction ts) l fs -> forall p q, substitute fs p = Some q ->
  exists c, 0 < c /\ peval ts q = peval l p * c.
Proof.
  intros F p q H; unfold substitute in H; set (ds := degrees (length fs) (terms_of p)) in *.
  exists (scale_of ts fs ds); split; [now apply (scale_pos ts l)|].
  assert (L : length ds = length fs) by apply degrees_length.
  clearbody ds; rewrite <- (terms_ok p); revert q H; induction (terms_of p) as [|t us IH]; intros q H; cbn [substitute_terms terms_value] in *.
  - apply some_injective in H; subst q; rewrite peval_const, Q2R_0; ring.
  - destruct (substitute_term _ (snd t)) as [a|] eqn:A; [|discriminate]; destruct (substitute_terms _ us) as [r|]; [|discriminate].
    apply some_injective in H; subst q; rewrite peval_add, peval_scale, (IH _ eq_refl), (substitute_term_ok ts l fs F ds L _ _ A).
    unfold term_value; ring.
Qed.

(* ---- a polynomial in t is not negative --------------------------------------------------------------------------------- *)
Inductive tree := Leaf | Half (i : nat) (below above : tree) | Unit (i : nat) (w : list Z) (rest : tree).
Definition replaced (n i : nat) (f : fraction) : list fraction :=
  map (fun k => if Nat.eqb k i then f else (pvar k, pconst 1%Q)) (seq 0 n).
Fixpoint without_flag (pos : list bool) (i : nat) : list bool :=
  match pos, i with [], _ => [] | _ :: pos, O => false :: pos | b :: pos, S i => b :: without_flag pos i end.
Fixpoint weight (w : list Z) (e : list nat) : Z := match w, e with z :: w, n :: e => (z * Z.of_nat n + weight w e)%Z | _, _ => 0%Z end.
Fixpoint dropped (e : list nat) (i : nat) : list nat := match e, i with [], _ => [] | _ :: e, O => O :: e | n :: e, S i => n :: dropped e i end.
Fixpoint check_tree (strict : bool) (tr : tree) (pos : list bool) (p : polynomial) : bool :=
  match tr with
  | Leaf => let ts := terms_of p in (no_negative ts && (negb strict || some_positive pos ts))%bool
  | Half i a b => let n := length pos in
      (Nat.ltb i n
       && match substitute (replaced n i (pvar i, padd (pconst 2%Q) (pvar i))) p with Some q => check_tree strict a pos q | None => false end
       && match substitute (replaced n i (padd (pconst 1%Q) (pscale 2%Q (pvar i)), pconst 1%Q)) p with
          | Some q => check_tree strict b (without_flag pos i) q | None => false end)%bool
  | Unit i w rest =>
      let ts := terms_of p in
      (nth i pos false && Nat.leb (length w) (length pos) && negb (Z.eqb (nth i w 0%Z) 0)
       && forallb (fun t => Z.eqb (weight w (snd t)) (weight w (snd (hd (0%Q, []) ts))) && Nat.leb (length (snd t)) (length w))%bool ts
       && match substitute (replaced (length pos) i (pconst 1%Q, pconst 1%Q)) p with Some q => check_tree strict rest pos q | None => false end)%bool
  end.

Fixpoint put (ts : list R) (i : nat) (x : R) : list R := match ts, i with [], _ => [] | _ :: ts, O => x :: ts | t :: ts, S i => t :: put ts i x end.
Lemma put_length ts i x : length (put ts i x) = length ts.
Proof. revert i; induction ts as [|t ts IH]; intros [|i]; cbn; try easy; now rewrite IH. Qed.
Lemma nth_put ts i x k : (i < length ts)%nat -> nth k (put ts i x) 0 = if Nat.eqb k i then x else nth k ts 0.
Proof.
  revert i k; induction ts as [|t ts IH]; intros [|i] [|k] L; cbn [put nth length Nat.eqb] in *; try lia; try easy.
  apply IH; lia.
Qed.
Lemma replaced_ok ts ts' i f : (forall k, (k < length ts)%nat -> is_fraction ts' (nth k ts 0) (if Nat.eqb k i then f else (pvar k, pconst 1%Q))) ->
  Forall2 (is_fraction ts') ts (replaced (length ts) i f).
Proof.
  unfold replaced; intros H.
  assert (G : forall us a, (forall k, (k < length us)%nat -> is_fraction ts' (nth k us 0) (if Nat.eqb (a + k) i then f else (pvar (a + k), pconst 1%Q))) ->
    Forall2 (is_fraction ts') us (map (fun k => if Nat.eqb k i then f else (pvar k, pconst 1%Q)) (seq a (length us)))).
  { induction us as [|u us IH]; intros a K; cbn [length seq map]; constructor.
    - specialize (K O (Nat.lt_0_succ _)); now rewrite Nat.add_0_r in K.
    - apply IH; intros k L; specialize (K (S k) (proj1 (Nat.succ_lt_mono _ _) L)); now rewrite Nat.add_succ_r in K. }
  apply (G ts O H).
Qed.
Lemma is_fraction_var ts k : is_fraction ts (nth k ts 0) (pvar k, pconst 1%Q).
Proof. split; cbn [fst snd]; rewrite peval_const, Q2R_1, ?peval_var; lra. Qed.
Lemma is_fraction_put ts i x k : (i < length ts)%nat -> k <> i -> is_fraction (put ts i x) (nth k ts 0) (pvar k, pconst 1%Q).
Proof. intros L N; split; cbn [fst snd]; rewrite peval_const, Q2R_1, ?peval_var, ?nth_put, ?(proj2 (Nat.eqb_neq k i) N) by easy; lra. Qed.
Lemma flagged_put pos pos' ts i x : flagged pos ts -> (i < length ts)%nat -> 0 <= x -> (nth i pos' false = true -> 0 < x) ->
  (forall k, k <> i -> nth k pos' false = nth k pos false) -> flagged pos' (put ts i x).
Proof.
  intros F L X P E k; rewrite nth_put by easy; destruct (Nat.eqb_spec k i) as [->|N]; [split; auto|]; rewrite E by easy; apply F.
Qed.
Lemma nth_without_flag pos i k : nth k (without_flag pos i) false = if Nat.eqb k i then false else nth k pos false.
Proof. revert i k; induction pos as [|b pos IH]; intros [|i] [|k]; cbn [without_flag nth Nat.eqb]; try easy; try apply IH; now destruct (Nat.eqb k i). Qed.
Lemma without_flag_length pos i : length (without_flag pos i) = length pos.
Proof. revert i; induction pos as [|b pos IH]; intros [|i]; cbn; try easy; now rewrite IH. Qed.

(* weights: all terms of a polynomial are scaled alike *)
Fixpoint scaled (u : R) (w : list R) (ts : list R) : list R := match w, ts with y :: w, t :: ts => (t * Rpower u y) :: scaled u w ts | _, ts => ts end.
Fixpoint real_weight (w : list R) (e : list nat) : R := match w, e with y :: w, n :: e => y * INR n + real_weight w e | _, _ => 0 end.
Lemma scaled_monomial u w ts : forall e, (length e <= length w)%nat -> (length w <= length ts)%nat ->
  monomial (scaled u w ts) e = monomial ts e * Rpower u (real_weight w e).
Proof.
  revert ts; induction w as [|y w IH]; intros ts [|n e] L M; cbn [length] in *; try lia;
    try (cbn [monomial real_weight]; unfold Rpower; rewrite Rmult_0_l, exp_0; ring).
  destruct ts as [|t ts]; cbn [length] in *; [lia|]; cbn [scaled monomial hd tl real_weight]; rewrite IH by lia.
  rewrite Rpow_mult_distr, Rpower_plus, <- (Rpower_pow n (Rpower u y)) by apply exp_pos; rewrite Rpower_mult; ring.
Qed.
Lemma scaled_terms u w ts W p : (length w <= length ts)%nat -> (forall t, In t p -> (length (snd t) <= length w)%nat /\ real_weight w (snd t) = W) ->
  terms_value (scaled u w ts) p = terms_value ts p * Rpower u W.
Proof.
  intros L H; induction p as [|t p IH]; cbn [terms_value]; [ring|].
  destruct (H t (or_introl eq_refl)) as [A B]; rewrite IH by (intros; apply H; now right).
  unfold term_value; rewrite scaled_monomial by easy; rewrite B; ring.
Qed.
Lemma scaled_length u w ts : length (scaled u w ts) = length ts.
Proof. revert ts; induction w as [|y w IH]; intros [|t ts]; cbn; try easy; now rewrite IH. Qed.
Lemma nth_scaled u w ts k : (length w <= length ts)%nat -> nth k (scaled u w ts) 0 = nth k ts 0 * (if Nat.ltb k (length w) then Rpower u (nth k w 0) else 1).
Proof.
  revert ts k; induction w as [|y w IH]; intros [|t ts] [|k] L; cbn [length scaled nth] in *; try lia; try (cbn; ring).
  rewrite IH by lia; reflexivity.
Qed.
Lemma real_weight_map c w e : real_weight (map (fun z => c * IZR z) w) e = c * IZR (weight w e).
Proof.
  revert e; induction w as [|z w IH]; intros [|n e]; cbn [map real_weight weight]; try ring.
  rewrite IH, plus_IZR, mult_IZR, INR_IZR_INZ; ring.
Qed.
Definition positive_or (strict : bool) (x : R) : Prop := if strict then 0 < x else 0 <= x.
Lemma positive_or_scale strict x c : 0 < c -> positive_or strict (x * c) -> positive_or strict x.
Proof.
  intros C; destruct strict; cbn; intros H; [apply Rmult_lt_reg_r with c | apply Rmult_le_reg_r with c]; trivial; lra.
Qed.
Theorem check_tree_ok strict tr : forall pos p ts, length pos = length ts -> flagged pos ts ->
  check_tree strict tr pos p = true -> positive_or strict (peval ts p).
Proof.
  induction tr as [|i a IHa b IHb|i w rest IH]; intros pos p ts L F H; cbn [check_tree] in H.
  - rewrite <- terms_ok; apply andb_prop in H as [N S]; destruct strict; cbn in *.
    + now apply (some_positive_ok pos).
    + now apply (no_negative_ok pos).
  - apply andb_prop in H as [H B]; apply andb_prop in H as [I A]; apply Nat.ltb_lt in I; rewrite L in I, A, B; pose proof (F i) as [T0 T1].
    destruct (Rlt_le_dec (nth i ts 0) 1) as [T|T].
    + destruct (substitute _ p) as [q|] eqn:Q in A; [|discriminate]; set (s := 2 * nth i ts 0 / (1 - nth i ts 0)).
      assert (S0 : 0 <= s) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
      assert (Fr : Forall2 (is_fraction (put ts i s)) ts (replaced (length ts) i (pvar i, padd (pconst 2%Q) (pvar i)))).
      { apply replaced_ok; intros k K; destruct (Nat.eqb_spec k i) as [->|N]; [|now apply is_fraction_put].
        split; cbn [fst snd]; rewrite peval_add, peval_const, peval_var, nth_put, Nat.eqb_refl, Q2R_Z by easy; [lra|]; unfold s; field; lra. }
      destruct (substitute_ok _ _ _ Fr _ _ Q) as (c & C & E).
      apply (positive_or_scale strict _ c C); rewrite <- E; apply (IHa pos); [now rewrite put_length | | exact A].
      apply (flagged_put pos); trivial; intros P; specialize (T1 P); apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra].
    + destruct (substitute _ p) as [q|] eqn:Q in B; [|discriminate]; set (s := (nth i ts 0 - 1) / 2).
      assert (Fr : Forall2 (is_fraction (put ts i s)) ts (replaced (length ts) i (padd (pconst 1%Q) (pscale 2%Q (pvar i)), pconst 1%Q))).
      { apply replaced_ok; intros k K; destruct (Nat.eqb_spec k i) as [->|N]; [|now apply is_fraction_put].
        split; cbn [fst snd]; rewrite ?peval_add, ?peval_scale, !peval_const, ?peval_var, ?nth_put, ?Nat.eqb_refl, !Q2R_Z by easy; [lra|]; unfold s; field. }
      destruct (substitute_ok _ _ _ Fr _ _ Q) as (c & C & E).
      apply (positive_or_scale strict _ c C); rewrite <- E; apply (IHb (without_flag pos i)); [now rewrite put_length, without_flag_length | | exact B].
      apply (flagged_put pos); trivial; [unfold s; lra | rewrite nth_without_flag, Nat.eqb_refl; discriminate |].
      intros k N; rewrite nth_without_flag; apply Nat.eqb_neq in N; now rewrite N.
  - apply andb_prop in H as [H B]; apply andb_prop in H as [H A]; apply andb_prop in H as [H W]; apply andb_prop in H as [P M].
    destruct (substitute _ p) as [q|] eqn:Q in B; [|discriminate]; apply Nat.leb_le in M; apply negb_true_iff, Z.eqb_neq in W.
    pose proof (proj2 (F i) P) as T; rewrite L in M, Q.
    assert (I : (i < length w)%nat) by (destruct (Nat.ltb_spec i (length w)); trivial; rewrite nth_overflow in W by easy; lia).
    set (c := - / IZR (nth i w 0%Z)); set (v := map (fun z => c * IZR z) w); set (u := nth i ts 0).
    assert (IW : IZR (nth i w 0%Z) <> 0) by (now apply not_0_IZR).
    assert (V : nth i v 0 = -1).
    { subst v; rewrite (nth_indep _ 0 (c * IZR 0)), (map_nth (fun z => c * IZR z)) by (rewrite map_length; lia); unfold c; field; easy. }
    set (ts' := scaled u v ts).
    assert (LV : length v = length w) by (subst v; now rewrite map_length).
    assert (T' : nth i ts' 0 = 1).
    { subst ts'; rewrite nth_scaled by lia; rewrite LV; apply Nat.ltb_lt in I; rewrite I, V.
      fold u; replace (-1) with (- (1)) by ring; rewrite Rpower_Ropp, Rpower_1 by easy; field; apply Rgt_not_eq; easy. }
    assert (F' : flagged pos ts').
    { intros k; subst ts'; rewrite nth_scaled by lia; destruct (F k) as [K0 K1].
      assert (X : 0 < (if Nat.ltb k (length v) then Rpower u (nth k v 0) else 1)) by (destruct (Nat.ltb _ _); [apply exp_pos | lra]).
      split; [apply Rmult_le_pos; lra | intros Y; apply Rmult_lt_0_compat; auto]. }
    assert (Fr : Forall2 (is_fraction ts') ts' (replaced (length ts) i (pconst 1%Q, pconst 1%Q))).
    { rewrite <- (scaled_length u v ts); fold ts'; apply replaced_ok; intros k K; destruct (Nat.eqb_spec k i) as [->|N]; [|apply is_fraction_var].
      rewrite T'; split; cbn [fst snd]; rewrite peval_const, Q2R_1; lra. }
    destruct (substitute_ok _ _ _ Fr _ _ Q) as (d & D & E).
    assert (G : positive_or strict (peval ts' p)).
    { apply (positive_or_scale strict _ d D); rewrite <- E; apply (IH pos); [subst ts'; now rewrite scaled_length | easy | easy]. }
    revert G; rewrite <- !terms_ok; intros G.
    set (W0 := weight w (snd (hd (0%Q, []) (terms_of p)))) in *.
    assert (S : terms_value ts' (terms_of p) = terms_value ts (terms_of p) * Rpower u (c * IZR W0)).
    { apply scaled_terms; [lia|]; intros t IN; rewrite forallb_forall in A; specialize (A t IN); apply andb_prop in A as [A1 A2].
      apply Z.eqb_eq in A1; apply Nat.leb_le in A2; rewrite LV; split; [easy|]; subst v; rewrite real_weight_map, A1; reflexivity. }
    rewrite S in G; apply (positive_or_scale strict _ (Rpower u (c * IZR W0))); [apply exp_pos | easy].
Qed.

(* ---- regions in t ------------------------------------------------------------------------------------------------------ *)
Fixpoint to_fraction (pos : list bool) (fs : list fraction) (e : rexp) : option fraction :=
  let quotient (a b : fraction) : option fraction :=
    if positive_poly pos (fst b) then Some (pmul (fst a) (snd b), pmul (snd a) (fst b))
    else if positive_poly pos (popp (fst b)) then Some (pmul (popp (fst a)) (snd b), pmul (snd a) (popp (fst b))) else None in
  let total (a b : fraction) : fraction :=
    if peqb (snd a) (snd b) then (padd (fst a) (fst b), snd a) else (padd (pmul (fst a) (snd b)) (pmul (fst b) (snd a)), pmul (snd a) (snd b)) in
  match e with
  | RV k => nth_error fs k
  | RZ z => Some (pconst (Qmake z 1), pconst 1%Q)
  | RAdd a b => match to_fraction pos fs a, to_fraction pos fs b with Some x, Some y => Some (total x y) | _, _ => None end
  | RSub a b => match to_fraction pos fs a, to_fraction pos fs b with Some x, Some y => Some (total x (popp (fst y), snd y)) | _, _ => None end
  | RMul a b => match to_fraction pos fs a, to_fraction pos fs b with
      | Some x, Some y => Some (pmul (fst x) (fst y), pmul (snd x) (snd y)) | _, _ => None end
  | RDiv a b => match to_fraction pos fs a, to_fraction pos fs b with Some x, Some y => quotient x y | _, _ => None end
  | ROpp a => match to_fraction pos fs a with Some x => Some (popp (fst x), snd x) | None => None end
  | RInv a => match to_fraction pos fs a with Some x => quotient (pconst 1%Q, pconst 1%Q) x | None => None end
  | RPow a n => match to_fraction pos fs a with Some x => Some (ppow (fst x) n, ppow (snd x) n) | None => None end
  end.
Lemma to_fraction_ok pos fs ts l : flagged pos ts -> (forall k f, nth_error fs k = Some f -> is_fraction ts (nth k l 0) f) ->
  forall e f, to_fraction pos fs e = Some f -> is_fraction ts (rval l e) f.
Proof.
  intros F H.
  assert (one : is_fraction ts 1 (pconst 1%Q, pconst 1%Q)) by (split; cbn [fst snd]; rewrite peval_const, Q2R_1; lra).
  assert (div : forall x y a b r, is_fraction ts x a -> is_fraction ts y b ->
    (if positive_poly pos (fst b) then Some (pmul (fst a) (snd b), pmul (snd a) (fst b))
     else if positive_poly pos (popp (fst b)) then Some (pmul (popp (fst a)) (snd b), pmul (snd a) (popp (fst b))) else None) = Some r ->
    is_fraction ts (x / y) r).
  { intros x y [an ad] [bn bd] r [A1 A2] [B1 B2] E; cbn [fst snd] in *.
    destruct (positive_poly pos bn) eqn:P; [|destruct (positive_poly pos (popp bn)) eqn:N; [|discriminate]];
      apply some_injective in E; subst r; split; cbn [fst snd]; rewrite !peval_mul, ?peval_opp.
    - apply Rmult_lt_0_compat; [easy | now apply (positive_poly_ok pos)].
    - apply (positive_poly_ok pos ts) in P; trivial; rewrite <- A2, <- B2 in *; field; intros ->; lra.
    - apply (positive_poly_ok pos ts) in N; trivial; rewrite peval_opp in N; nra.
    - apply (positive_poly_ok pos ts) in N; trivial; rewrite peval_opp in N; rewrite <- A2, <- B2 in *; field; intros ->; lra. }
  assert (plus : forall x y a b, is_fraction ts x a -> is_fraction ts y b -> is_fraction ts (x + y)
    (if peqb (snd a) (snd b) then (padd (fst a) (fst b), snd a) else (padd (pmul (fst a) (snd b)) (pmul (fst b) (snd a)), pmul (snd a) (snd b)))).
  { intros x y [an ad] [bn bd] [A1 A2] [B1 B2]; cbn [fst snd] in *; destruct (peqb ad bd) eqn:E; split; cbn [fst snd]; trivial.
    - rewrite peval_add, <- A2, <- B2, (peqb_ok _ _ E ts); ring.
    - rewrite peval_mul; now apply Rmult_lt_0_compat.
    - rewrite peval_add, !peval_mul, <- A2, <- B2; ring. }
  assert (opp : forall x a, is_fraction ts x a -> is_fraction ts (- x) (popp (fst a), snd a)).
  { intros x [an ad] [A1 A2]; cbn [fst snd] in *; split; cbn [fst snd]; trivial; rewrite peval_opp, <- A2; ring. }
  induction e; intros f E; cbn [to_fraction rval] in *;
    repeat match type of E with match to_fraction ?p ?g ?e with _ => _ end = _ => let X := fresh "X" in destruct (to_fraction p g e) eqn:X; [|discriminate E] end;
    try (apply some_injective in E; subst f).
  - now apply H.
  - split; cbn [fst snd]; rewrite !peval_const, !Q2R_Z; lra.
  - apply plus; [now apply IHe1 | now apply IHe2].
  - apply (plus _ _ _ (popp (fst f1), snd f1)); [now apply IHe1 | apply opp; now apply IHe2].
  - destruct (IHe1 _ eq_refl) as [A1 A2], (IHe2 _ eq_refl) as [B1 B2]; split; cbn [fst snd]; rewrite !peval_mul; [now apply Rmult_lt_0_compat | rewrite <- A2, <- B2; ring].
  - eapply div; [now apply IHe1 | now apply IHe2 | exact E].
  - apply opp; now apply IHe.
  - replace (/ rval l e) with (1 / rval l e) by (unfold Rdiv; ring); eapply div; [exact one | now apply IHe | exact E].
  - destruct (IHe _ eq_refl) as [A1 A2]; split; cbn [fst snd]; rewrite !peval_pow; [now apply pow_lt | rewrite <- A2, Rpow_mult_distr; ring].
Qed.

Definition branch := (list fraction * list bool)%type.
Definition both (a b : option (list branch)) : option (list branch) := match a, b with Some x, Some y => Some (x ++ y) | _, _ => None end.
Fixpoint branches (rs : list range) (fs : list fraction) (pos : list bool) : option (list branch) :=
  match rs with
  | [] => Some [(fs, pos)]
  | r :: rs =>
      let t := pvar (length fs) in
      match to_fraction pos fs (low r) with
      | None => None
      | Some (ln, ld) => match high r with
          | None => branches rs (fs ++ [(padd ln (pmul ld t), ld)]) (pos ++ [negb (low_closed r)])
          | Some h => match to_fraction pos fs h with
              | None => None
              | Some (hn, hd) =>
                  let inside := branches rs (fs ++ [(padd (pmul ln hd) (pmul (pmul hn ld) t), pmul (pmul ld hd) (padd (pconst 1%Q) t))]) (pos ++ [negb (low_closed r)]) in
                  if high_closed r then both inside (branches rs (fs ++ [(hn, hd)]) (pos ++ [true])) else inside
              end
          end
      end
  end.
Definition nonnegatives (ts : list R) : Prop := Forall (Rle 0) ts.
(* ts stand for the first numbers, whatever comes after them *)
Definition stands (l : list R) (ts : list R) (b : branch) : Prop :=
  length (fst b) = length ts /\ length (snd b) = length ts /\
  (forall rest, nonnegatives rest -> forall k f, nth_error (fst b) k = Some f -> is_fraction (ts ++ rest) (nth k l 0) f)
  /\ (forall k, 0 <= nth k ts 0 /\ (nth k (snd b) false = true -> 0 < nth k ts 0)).
Lemma flagged_app pos ts rest : length pos = length ts -> nonnegatives rest -> flagged pos ts -> flagged pos (ts ++ rest).
Proof.
  intros L N F k; destruct (Nat.lt_ge_cases k (length ts)) as [K|K]; [rewrite app_nth1 by easy; apply F|].
  rewrite app_nth2 by easy; split; [|rewrite nth_overflow by lia; discriminate].
  destruct (Nat.lt_ge_cases (k - length ts) (length rest)) as [J|J]; [|rewrite nth_overflow by easy; lra].
  unfold nonnegatives in N; rewrite Forall_forall in N; apply N, nth_In, J.
Qed.
Lemma stands_snoc l ts fs pos f b t : stands l ts (fs, pos) -> 0 <= t -> (b = true -> 0 < t) ->
  (forall rest, nonnegatives rest -> is_fraction (ts ++ t :: rest) (nth (length fs) l 0) f) -> stands l (ts ++ [t]) (fs ++ [f], pos ++ [b]).
Proof.
  intros (L & M & S & F) T P E; unfold stands; cbn [fst snd] in *; rewrite !app_length, L, M; cbn [length]; repeat split; trivial.
  - rewrite <- app_assoc; cbn [app]; destruct (Nat.lt_ge_cases k (length fs)) as [K|K].
    + rewrite nth_error_app1 in H0 by easy; now apply (S (t :: rest) (Forall_cons _ T H) k f0 H0).
    + rewrite nth_error_app2 in H0 by easy; destruct (k - length fs)%nat as [|j] eqn:J; [|destruct j; discriminate].
      cbn in H0; apply some_injective in H0; subst f0; replace k with (length fs) by lia; now apply (E rest H).
  - rewrite <- app_assoc; cbn [app]; destruct (Nat.lt_ge_cases k (length fs)) as [K|K].
    + rewrite nth_error_app1 in H0 by easy; now apply (S (t :: rest) (Forall_cons _ T H) k f0 H0).
    + rewrite nth_error_app2 in H0 by easy; destruct (k - length fs)%nat as [|j] eqn:J; [|destruct j; discriminate].
      cbn in H0; apply some_injective in H0; subst f0; replace k with (length fs) by lia; now apply (E rest H).
  - destruct (Nat.lt_ge_cases k (length ts)) as [K|K]; [rewrite app_nth1 by easy; apply F|].
    rewrite app_nth2 by easy; destruct (k - length ts)%nat as [|[|j]]; cbn; lra.
  - destruct (Nat.lt_ge_cases k (length ts)) as [K|K]; [rewrite !app_nth1 by lia; apply F|].
    rewrite !app_nth2, M by lia; destruct (k - length ts)%nat as [|[|j]]; cbn; auto; discriminate.
Qed.
Lemma branches_ok l rs : forall fs pos bs ts, stands l ts (fs, pos) -> in_region l rs (length fs) -> branches rs fs pos = Some bs ->
  exists b us, In b bs /\ stands l us b /\ length us = (length fs + length rs)%nat.
Proof.
  induction rs as [|r rs IH]; intros fs pos bs ts S I B; cbn [branches in_region] in *.
  { apply some_injective in B; subst bs; exists (fs, pos), ts; split; [now left|]; split; [exact S|]; cbn [length]; rewrite Nat.add_0_r; symmetry; exact (proj1 S). }
  destruct I as (LO & HI & I); set (x := nth (length fs) l 0) in *.
  destruct (to_fraction pos fs (low r)) as [[ln ld]|] eqn:EL; [|discriminate]; set (a := rval l (low r)) in *.
  pose proof S as (L & M & SF & F); cbn [fst snd] in *.
  assert (AL : forall t rest, 0 <= t -> nonnegatives rest -> is_fraction (ts ++ t :: rest) a (ln, ld)).
  { intros t rest T N; assert (N' : nonnegatives (t :: rest)) by now constructor.
    apply (to_fraction_ok pos fs); trivial; [apply flagged_app; trivial | intros k f K; now apply SF]. }
  assert (AX : a <= x) by (unfold at_most in LO; destruct (low_closed r); lra).
  assert (AP : negb (low_closed r) = true -> a < x) by (intros NC; unfold at_most in LO; destruct (low_closed r); [discriminate | easy]).
  assert (VT : forall t rest, peval (ts ++ t :: rest) (pvar (length fs)) = t) by (intros; rewrite peval_var, app_nth2, L, Nat.sub_diag by lia; easy).
  assert (NEXT : forall f b bs' t, (t = t -> 0 <= t) -> (b = true -> 0 < t) ->
    (forall rest, nonnegatives rest -> is_fraction (ts ++ t :: rest) x f) -> branches rs (fs ++ [f]) (pos ++ [b]) = Some bs' ->
    exists c us, In c bs' /\ stands l us c /\ length us = (length fs + Datatypes.S (length rs))%nat).
  { intros f b bs' t T0 T1 E K; destruct (IH (fs ++ [f]) (pos ++ [b]) bs' (ts ++ [t])) as (c & us & C1 & C2 & C3); trivial.
    - apply stands_snoc; auto.
    - rewrite app_length; cbn [length]; now rewrite Nat.add_1_r.
    - exists c, us; split; [exact C1|]; split; [exact C2|]; rewrite C3, app_length; cbn [length]; now rewrite Nat.add_1_r, Nat.add_succ_r. }
  destruct (high r) as [h|].
  2: { apply (NEXT _ _ _ (x - a)) in B; trivial; [lra | intros NC; specialize (AP NC); lra |].
    intros rest N; destruct (AL (x - a) rest ltac:(lra) N) as [A1 A2]; cbn [fst snd] in *; split; cbn [fst snd]; trivial.
    rewrite peval_add, peval_mul, VT, <- A2; ring. }
  destruct (to_fraction pos fs h) as [[hn hd]|] eqn:EH; [|discriminate]; set (c := rval l h) in *.
  assert (AH : forall t rest, 0 <= t -> nonnegatives rest -> is_fraction (ts ++ t :: rest) c (hn, hd)).
  { intros t rest T N; assert (N' : nonnegatives (t :: rest)) by now constructor.
    apply (to_fraction_ok pos fs); trivial; [apply flagged_app; trivial | intros k f K; now apply SF]. }
  assert (XC : x <= c) by (unfold at_most in HI; destruct (high_closed r); lra).
  assert (INSIDE : forall bs', x < c -> branches rs (fs ++ [(padd (pmul ln hd) (pmul (pmul hn ld) (pvar (length fs))), pmul (pmul ld hd) (padd (pconst 1%Q) (pvar (length fs))))]) (pos ++ [negb (low_closed r)]) = Some bs' ->
    exists d us, In d bs' /\ stands l us d /\ length us = (length fs + Datatypes.S (length rs))%nat).
  { intros bs' X K; set (t := (x - a) / (c - x)).
    assert (T : 0 <= t) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    apply (NEXT _ _ _ t) in K; trivial; [intros NC; specialize (AP NC); apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra] |].
    intros rest N; destruct (AL t rest T N) as [A1 A2]; destruct (AH t rest T N) as [B1 B2]; cbn [fst snd] in *; split; cbn [fst snd].
    - rewrite !peval_mul, peval_add, peval_const, Q2R_1, VT; apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat | lra].
    - rewrite peval_add, !peval_mul, peval_add, peval_const, Q2R_1, VT, <- A2, <- B2; unfold t; field; lra. }
  destruct (high_closed r) eqn:HC; cbn [at_most] in HI; [|now apply INSIDE].
  destruct (branches rs (fs ++ [(padd _ _, _)]) _) as [b1|] eqn:B1; [|discriminate]; cbn [both] in B.
  destruct (branches rs (fs ++ [(hn, hd)]) _) as [b2|] eqn:B2; [|discriminate]; apply some_injective in B; subst bs.
  destruct (Rlt_le_dec x c) as [X|X].
  - destruct (INSIDE b1 X eq_refl) as (d & us & D & E); exists d, us; split; [apply in_or_app; now left | easy].
  - apply (NEXT _ _ _ 1) in B2; [|lra | lra |].
    + destruct B2 as (d & us & D & E); exists d, us; split; [apply in_or_app; now right | easy].
    + intros rest N; replace x with c by lra; apply AH; [lra | easy].
Qed.

(* the sign of a polynomial in the first variables on a region, with a tree for each branch *)
Definition check_sign (rs : list range) (strict : bool) (p : polynomial) (trees : list tree) : bool :=
  match branches rs [] [] with
  | None => false
  | Some bs => forallb (fun bt => match substitute (fst (fst bt)) p with
      | Some q => check_tree strict (snd bt) (snd (fst bt)) q | None => false end) (combine bs (trees ++ repeat Leaf (length bs)))
  end.
Lemma combine_cover {A B} (a : list A) (b : list B) x : (length a <= length b)%nat -> In x a -> exists y, In (x, y) (combine a b).
Proof.
  revert b; induction a as [|u a IH]; intros [|v b] L I; cbn in *; try lia; try easy.
  destruct I as [->|I]; [exists v; now left|]; destruct (IH b ltac:(lia) I) as [y Y]; exists y; now right.
Qed.
Theorem check_sign_ok rs strict p trees l : (length rs <= length l)%nat -> in_region l rs 0 -> check_sign rs strict p trees = true ->
  positive_or strict (peval (firstn (length rs) l) p).
Proof.
  intros N I H; unfold check_sign in H; destruct (branches rs [] []) as [bs|] eqn:B; [|discriminate].
  assert (S0 : stands l [] ([], [])) by (repeat split; cbn; trivial; intros; destruct k; easy || lra).
  destruct (branches_ok l rs [] [] bs [] S0 I B) as ([fs pos] & us & IN & (L & M & S & F) & LU); cbn [fst snd] in *.
  destruct (combine_cover bs (trees ++ repeat Leaf (length bs)) (fs, pos)) as [tr T]; [rewrite app_length, repeat_length; lia | easy |].
  rewrite forallb_forall in H; specialize (H _ T); cbn [fst snd] in H; destruct (substitute fs p) as [q|] eqn:Q; [|discriminate].
  assert (FF : Forall2 (is_fraction us) (firstn (length rs) l) fs).
  { specialize (S [] (Forall_nil _)); rewrite app_nil_r in S; cbn in LU; rewrite <- LU, <- L in *; clear - S N L LU.
    assert (G : forall fs l, (length fs <= length l)%nat -> (forall k f, nth_error fs k = Some f -> is_fraction us (nth k l 0) f) -> Forall2 (is_fraction us) (firstn (length fs) l) fs).
    { clear; induction fs as [|f fs IH]; intros [|x l] L H; cbn in *; try lia; constructor; [now apply (H O) | apply IH; [lia | intros k g K; now apply (H (S k))]]. }
    apply G; trivial; lia. }
  destruct (substitute_ok us _ fs FF p q Q) as (c & C & E); apply (positive_or_scale strict _ c C); rewrite <- E.
  now apply (check_tree_ok strict tr pos q us).
Qed.
