(* Inner products of combinations of vectors by computation: vectors of all clients as combinations of leaves, of their averages over the clients,
   and of the deviations from these; coefficients are sums of products of factors. *)
From Fedtheory Require Export Numbers Classes.
From Coq Require Import QArith ZArith Bool.
Close Scope Q_scope.
Open Scope R_scope.

(* ---- combinations of the vectors of a list, and their inner products --------------------------------------------------- *)
Definition combination := list sum.
Fixpoint cunit (k : nat) : combination := match k with O => [[(1%Q, [])]] | S k => [] :: cunit k end.
Fixpoint ladd (a b : combination) : combination := match a, b with [], b => b | a, [] => a | x :: a, y :: b => sadd x y :: ladd a b end.
Definition lscale (s : sum) (a : combination) : combination := map (smul s) a.
Definition lallowed (nz : list bool) (a : combination) : bool := forallb (sallowed nz) a.
Fixpoint row (x : sum) (a : combination) (y : sum) (b : combination) : combination :=
  match a, b with [], b => lscale x b | a, [] => lscale y a | p :: a, q :: b => sadd (smul x q) (smul y p) :: row x a y b end.
(* entry (i, j - i) of row i is the coefficient of <v_i, v_j>, i <= j *)
Definition entries := list combination.
Fixpoint outer (a b : combination) : entries := match a, b with x :: a, y :: b => (smul x y :: row x a y b) :: outer a b | _, _ => [] end.
Fixpoint eadd (a b : entries) : entries := match a, b with [], b => b | a, [] => a | x :: a, y :: b => ladd x y :: eadd a b end.
Definition escale (s : sum) (a : entries) : entries := map (lscale s) a.
Definition eallowed (nz : list bool) (a : entries) : bool := forallb (lallowed nz) a.

Section Combinations.
Variables (nz : list bool) (xs : list R).
Hypothesis N : Forall2 nowhere_zero nz xs.
Variables (W : Type) (wzero : W) (wadd : W -> W -> W) (wscale : R -> W -> W) (wdot : W -> W -> R).
Hypothesis wsym : forall u v, wdot u v = wdot v u.
Hypothesis wzer : forall v, wdot wzero v = 0.
Hypothesis wad : forall u v w, wdot (wadd u v) w = wdot u w + wdot v w.
Hypothesis wsc : forall a u v, wdot (wscale a u) v = a * wdot u v.
Fixpoint lval (a : combination) (vs : list W) : W :=
  match a, vs with x :: a, v :: vs => wadd (wscale (sval xs x) v) (lval a vs) | _, _ => wzero end.
Fixpoint rowval (a : combination) (v : W) (vs : list W) : R :=
  match a, vs with x :: a, w :: vs => sval xs x * wdot v w + rowval a v vs | _, _ => 0 end.
Fixpoint eval (e : entries) (vs : list W) : R := match e, vs with a :: e, v :: vs => rowval a v (v :: vs) + eval e vs | _, _ => 0 end.

Lemma wzer_r v : wdot v wzero = 0. Proof. now rewrite wsym, wzer. Qed.
Lemma wad_r u v w : wdot w (wadd u v) = wdot w u + wdot w v. Proof. now rewrite wsym, wad, !(wsym _ w). Qed.
Lemma wsc_r a u v : wdot v (wscale a u) = a * wdot v u. Proof. now rewrite wsym, wsc, wsym. Qed.
Lemma rowval_is a v vs : rowval a v vs = wdot v (lval a vs).
Proof. revert vs; induction a as [|x a IH]; intros [|w vs]; cbn [rowval lval]; rewrite ?wzer_r; trivial; now rewrite IH, wad_r, wsc_r. Qed.
Lemma lallowed_ladd a b : lallowed nz a = true -> lallowed nz b = true -> lallowed nz (ladd a b) = true.
Proof.
  revert b; induction a as [|x a IH]; intros [|y b] A B; cbn [lallowed ladd forallb] in *; trivial.
  apply andb_prop in A as [A1 A2]; apply andb_prop in B as [B1 B2]; apply andb_true_intro; split; [now apply (sadd_ok nz xs) | now apply IH].
Qed.
Lemma lallowed_lscale s a : sallowed nz s = true -> lallowed nz a = true -> lallowed nz (lscale s a) = true.
Proof.
  intros S; induction a as [|x a IH]; intros A; cbn [lallowed lscale map forallb] in *; trivial.
  apply andb_prop in A as [A1 A2]; apply andb_true_intro; split; [now apply (smul_ok nz xs N) | now apply IH].
Qed.
Lemma dot_ladd w a b vs : wdot w (lval (ladd a b) vs) = wdot w (lval a vs) + wdot w (lval b vs).
Proof.
  revert b vs; induction a as [|x a IH]; intros [|y b] [|v vs]; cbn [ladd lval]; rewrite ?wzer_r, ?wad_r, ?wsc_r; try ring.
  rewrite IH, (proj1 (sadd_ok nz xs x y)); ring.
Qed.
Lemma dot_lscale w s a vs : sallowed nz s = true -> lallowed nz a = true -> wdot w (lval (lscale s a) vs) = sval xs s * wdot w (lval a vs).
Proof.
  intros S; revert vs; induction a as [|x a IH]; intros [|v vs] A; cbn [lscale map lval] in *; rewrite ?wzer_r, ?wad_r, ?wsc_r; try ring.
  cbn [lallowed forallb] in A; apply andb_prop in A as [A1 A2]; fold (lscale s a); rewrite (IH vs A2), (proj1 (smul_ok nz xs N s x S A1)); ring.
Qed.
Lemma dot_cunit w k vs : wdot w (lval (cunit k) vs) = wdot w (nth k vs wzero).
Proof.
  revert vs; induction k as [|k IH]; intros [|v vs]; cbn [cunit lval nth]; rewrite ?wzer_r, ?wad_r, ?wsc_r; trivial.
  - cbn [sval pval]; rewrite Q2R_1; destruct vs; cbn [lval]; rewrite wzer_r; ring.
  - rewrite IH; cbn [sval]; ring.
Qed.
Lemma cunit_allowed k : lallowed nz (cunit k) = true. Proof. induction k; cbn; trivial; now destruct nz. Qed.
Lemma row_ok x a y b v vs : sallowed nz x = true -> sallowed nz y = true -> lallowed nz a = true -> lallowed nz b = true ->
  rowval (row x a y b) v vs = sval xs x * rowval b v vs + sval xs y * rowval a v vs /\ lallowed nz (row x a y b) = true.
Proof.
  intros X Y; revert b vs; induction a as [|p a IH]; intros b vs A B.
  - cbn [row]; rewrite !rowval_is, dot_lscale by easy; cbn [lval]; rewrite wzer_r; split; [ring | now apply lallowed_lscale].
  - destruct b as [|q b]; [cbn [row]; rewrite !rowval_is, dot_lscale by easy; cbn [lval]; rewrite wzer_r; split; [ring | now apply lallowed_lscale]|].
    cbn [row lallowed forallb] in *; apply andb_prop in A as [A1 A2]; apply andb_prop in B as [B1 B2].
    destruct (smul_ok nz xs N x q X B1) as [V1 W1], (smul_ok nz xs N y p Y A1) as [V2 W2].
    destruct (sadd_ok nz xs (smul x q) (smul y p)) as [V3 W3].
    destruct vs as [|w vs]; cbn [rowval]; [split; [ring|]; destruct (IH b [] A2 B2) as [_ I]; apply andb_true_intro; auto|].
    destruct (IH b vs A2 B2) as [V I]; rewrite V, V3, V1, V2; split; [ring | apply andb_true_intro; auto].
Qed.
Lemma outer_ok a b vs : lallowed nz a = true -> lallowed nz b = true ->
  eval (outer a b) vs = wdot (lval a vs) (lval b vs) /\ eallowed nz (outer a b) = true.
Proof.
  revert b vs; induction a as [|x a IH]; intros b vs A B.
  - cbn [outer eval lval]; rewrite wzer; now destruct b.
  - destruct b as [|y b]; [cbn [outer eval]; split; trivial; replace (lval [] vs) with wzero by (now destruct vs); now rewrite wzer_r|].
    cbn [outer lallowed forallb eallowed] in *; apply andb_prop in A as [A1 A2]; apply andb_prop in B as [B1 B2].
    destruct (smul_ok nz xs N x y A1 B1) as [V1 W1].
    destruct vs as [|v vs].
    + destruct (row_ok x a y b wzero [] A1 B1 A2 B2) as [_ R0], (IH b [] A2 B2) as [_ I]; cbn [eval lval]; rewrite wzer; split; trivial.
      repeat (apply andb_true_intro; split); trivial.
    + destruct (row_ok x a y b v vs A1 B1 A2 B2) as [V2 R0], (IH b vs A2 B2) as [V3 I]; cbn [eval rowval lval].
      rewrite V2, V3, V1, !wad, !wsc, !wad_r, !wsc_r, !rowval_is, (wsym (lval a vs) v); split; [ring|].
      repeat (apply andb_true_intro; split); trivial.
Qed.
Lemma eadd_ok a b vs : eval (eadd a b) vs = eval a vs + eval b vs /\ (eallowed nz a = true -> eallowed nz b = true -> eallowed nz (eadd a b) = true).
Proof.
  revert b vs; induction a as [|x a IH]; intros b vs; [cbn [eadd eval]; split; trivial; ring|].
  destruct b as [|y b]; [cbn [eadd]; split; trivial; cbn [eval]; replace (eval [] vs) with 0 by (now destruct vs); ring|].
  split.
  - destruct vs as [|v vs]; cbn [eadd eval]; [ring|]; rewrite (proj1 (IH b vs)), !rowval_is, dot_ladd; ring.
  - cbn [eadd eallowed forallb]; intros A B; apply andb_prop in A as [A1 A2]; apply andb_prop in B as [B1 B2]; apply andb_true_intro; split.
    + now apply lallowed_ladd.
    + now apply (IH b vs).
Qed.
Lemma escale_ok s a vs : sallowed nz s = true -> eallowed nz a = true -> eval (escale s a) vs = sval xs s * eval a vs /\ eallowed nz (escale s a) = true.
Proof.
  intros S; revert vs; induction a as [|x a IH]; intros vs A; [cbn; split; trivial; ring|].
  cbn [escale map eallowed forallb] in *; apply andb_prop in A as [A1 A2]; fold (escale s a); split.
  - destruct vs as [|v vs]; cbn [eval]; [ring|]; rewrite (proj1 (IH vs A2)), !rowval_is, dot_lscale by easy; ring.
  - apply andb_true_intro; split; [now apply lallowed_lscale | now apply (IH vs)].
Qed.
Variables (l : list R) (ps : list polynomial).
Hypothesis F : factors_are l ps xs.
Definition row_vanishes (a : combination) : bool := forallb (vanishes nz ps) a.
Definition entries_vanish (e : entries) : bool := forallb row_vanishes e.
Lemma entries_vanish_ok e vs : entries_vanish e = true -> eval e vs = 0.
Proof.
  revert vs; induction e as [|a e IH]; intros [|v vs] H; cbn [eval]; trivial; cbn [entries_vanish forallb] in H; apply andb_prop in H as [H1 H2].
  rewrite (IH vs H2), Rplus_0_r; generalize (v :: vs); clear - H1 F N; revert H1; induction a as [|x a IH]; intros H [|w ws]; cbn [rowval]; trivial.
  cbn [row_vanishes forallb] in H; apply andb_prop in H as [H1 H2]; rewrite (IH H2), (vanishes_ok l ps xs nz x F N H1); ring.
Qed.
End Combinations.

(* ---- vectors as expressions: of a client, or common to all -------------------------------------------------------------- *)
Inductive vexp :=
  | VC (k : nat) | VW (k : nat) | VMean (e : vexp) | VAdd (a b : vexp) | VSub (a b : vexp) | VScale (r : rexp) (a : vexp) | VZero.
(* which leaves of the clients are known to average to zero *)
Fixpoint vnorm (nz : list bool) (ps : list polynomial) (zm : list bool) (nw : nat) (e : vexp) : option (combination * combination) :=
  match e with
  | VC k => Some (if nth k zm false then [] else cunit (nw + k), cunit k)
  | VW k => if Nat.ltb k nw then Some (cunit k, []) else None
  | VMean e => match vnorm nz ps zm nw e with Some (a, _) => Some (a, []) | None => None end
  | VAdd a b => match vnorm nz ps zm nw a, vnorm nz ps zm nw b with
      | Some (a1, a2), Some (b1, b2) => Some (ladd a1 b1, ladd a2 b2) | _, _ => None end
  | VSub a b => match vnorm nz ps zm nw a, vnorm nz ps zm nw b with
      | Some (a1, a2), Some (b1, b2) => let m := [((-1)%Q, [])] in Some (ladd a1 (lscale m b1), ladd a2 (lscale m b2)) | _, _ => None end
  | VScale r a => match to_sum nz ps r, vnorm nz ps zm nw a with
      | Some s, Some (a1, a2) => Some (lscale s a1, lscale s a2) | _, _ => None end
  | VZero => Some ([], [])
  end.
Fixpoint is_common (e : vexp) : bool :=
  match e with VC _ => false | VW _ | VMean _ | VZero => true | VAdd a b | VSub a b => (is_common a && is_common b)%bool | VScale _ a => is_common a end.

Section Vectors.
Context {V : space} {C : clients V}.
Variables (xs : list R) (ws : list V) (us : list (C -> V)).
Fixpoint at_client (e : vexp) (i : C) : V :=
  match e with
  | VC k => nth k us (fun _ => zero) i | VW k => nth k ws zero | VMean e => mean (at_client e)
  | VAdd a b => (at_client a i + at_client b i)%V | VSub a b => (at_client a i - at_client b i)%V
  | VScale r a => (rval xs r *: at_client a i)%V | VZero => zero
  end.
Fixpoint common (e : vexp) : V :=
  match e with
  | VC k => zero | VW k => nth k ws zero | VMean e => mean (at_client e)
  | VAdd a b => (common a + common b)%V | VSub a b => (common a - common b)%V
  | VScale r a => (rval xs r *: common a)%V | VZero => zero
  end.
Lemma common_ok e i : is_common e = true -> at_client e i = common e.
Proof.
  induction e; cbn [is_common at_client common]; intros H; try easy; try (apply andb_prop in H as [H1 H2]; now rewrite IHe1, IHe2).
  now rewrite IHe.
Qed.
Variables (l : list R) (ps : list polynomial) (nz : list bool).
Hypotheses (F : factors_are l ps xs) (N : Forall2 nowhere_zero nz xs).
Variable zm : list bool.
Hypothesis Z : forall k, nth k zm false = true -> mean (nth k us (fun _ => zero)) = zero.
Definition parts : list V := ws ++ map mean us.
Definition deviation (u : C -> V) : C -> V := fun i => (u i - mean u)%V.
Definition devs : list (C -> V) := map deviation us.
Notation lvalV := (lval xs V zero add scale).
Notation lvalC := (lval xs (C -> V) (fun _ => zero) cadd cscale).
Lemma cdot_zero_l (v : C -> V) : cdot (fun _ => zero) v = 0.
Proof. change (cdot (all zero) v = 0); rewrite cdot_all_l, dot_sym; apply dot_zero. Qed.
Ltac laws := first [exact N | apply dot_sym | apply dot_zero | apply dot_add | apply dot_scale | apply cdot_sym | apply cdot_zero_l | apply cdot_add | apply cdot_scale].
Lemma sem_mean e : forall a b, vnorm nz ps zm (length ws) e = Some (a, b) -> mean (at_client e) = lvalV a parts /\ lallowed nz a = true /\ lallowed nz b = true.
Proof.
  induction e; intros a b H; cbn [vnorm] in H.
  - apply some_injective in H; injection H as <- <-; repeat split; try apply cunit_allowed; [|destruct (nth k zm false); [easy | apply cunit_allowed]].
    change (at_client (VC k)) with (nth k us (fun _ : C => zero)); apply by_dot; intros w; rewrite !(dot_sym _ _ w); destruct (nth k zm false) eqn:E.
    + rewrite (Z k E); easy.
    + rewrite (dot_cunit xs V zero add scale dot) by laws; f_equal; unfold parts; rewrite app_nth2_plus.
      transitivity (nth k (map (@mean V C) us) (mean (fun _ : C => zero))); [now rewrite map_nth|].
      f_equal; change (mean (@all V C zero) = zero); apply mean_all.
  - destruct (Nat.ltb_spec k (length ws)) as [K|K]; [|discriminate]; apply some_injective in H; injection H as <- <-; repeat split; try apply cunit_allowed.
    change (mean (@all V C (nth k ws zero)) = lvalV (cunit k) parts); rewrite mean_all; apply by_dot; intros w; rewrite !(dot_sym _ _ w).
    rewrite (dot_cunit xs V zero add scale dot) by laws; unfold parts; now rewrite app_nth1.
  - destruct (vnorm nz ps zm (length ws) e) as [[a' b']|]; [|discriminate]; apply some_injective in H; injection H as <- <-.
    destruct (IHe a' b' eq_refl) as (M & A & B); repeat split; trivial; rewrite <- M; apply (@mean_all V C).
  - destruct (vnorm nz ps zm (length ws) e1) as [[a1 b1]|], (vnorm nz ps zm (length ws) e2) as [[a2 b2]|]; try discriminate.
    apply some_injective in H; injection H as <- <-; destruct (IHe1 _ _ eq_refl) as (M1 & A1 & B1), (IHe2 _ _ eq_refl) as (M2 & A2 & B2).
    repeat split; try (now apply (lallowed_ladd nz xs)).
    change (mean (cadd (at_client e1) (at_client e2)) = lvalV (ladd a1 a2) parts); rewrite mean_cadd, M1, M2; apply by_dot; intros w; rewrite !(dot_sym _ _ w).
    rewrite (dot_ladd nz xs V zero add scale dot), dot_add_r by laws; easy.
  - destruct (vnorm nz ps zm (length ws) e1) as [[a1 b1]|], (vnorm nz ps zm (length ws) e2) as [[a2 b2]|]; try discriminate.
    apply some_injective in H; injection H as <- <-; destruct (IHe1 _ _ eq_refl) as (M1 & A1 & B1), (IHe2 _ _ eq_refl) as (M2 & A2 & B2).
    assert (S : sallowed nz [((-1)%Q, [])] = true) by now destruct nz.
    repeat split; try (apply (lallowed_ladd nz xs); trivial; now apply (lallowed_lscale nz xs)).
    change (mean (cadd (at_client e1) (cscale (-1) (at_client e2))) = lvalV (ladd a1 (lscale [((-1)%Q, [])] a2)) parts).
    rewrite mean_cadd, mean_cscale, M1, M2; apply by_dot; intros w; rewrite !(dot_sym _ _ w).
    rewrite (dot_ladd nz xs V zero add scale dot), (dot_lscale nz xs N V zero add scale dot), dot_add_r, dot_scale_r by (trivial; laws).
    cbn [sval pval]; rewrite Q2R_Z; ring.
  - destruct (to_sum nz ps r) as [s|] eqn:E; [|discriminate]; destruct (vnorm nz ps zm (length ws) e) as [[a' b']|]; [|discriminate].
    apply some_injective in H; injection H as <- <-; destruct (IHe _ _ eq_refl) as (M & A & B); destruct (to_sum_ok l ps xs nz F N r s E) as [VS AS].
    repeat split; try (now apply (lallowed_lscale nz xs)).
    change (mean (cscale (rval xs r) (at_client e)) = lvalV (lscale s a') parts); rewrite mean_cscale, M; apply by_dot; intros w; rewrite !(dot_sym _ _ w).
    rewrite (dot_lscale nz xs N V zero add scale dot), dot_scale_r, VS by (trivial; laws); easy.
  - apply some_injective in H; injection H as <- <-; repeat split; apply (@mean_all V C).
Qed.
(* in products with what averages to zero, only deviations count *)
Lemma sem_deviation e w : mean w = zero -> forall a b, vnorm nz ps zm (length ws) e = Some (a, b) -> cdot w (at_client e) = cdot w (lvalC b devs).
Proof.
  intros Hw; assert (Hc : forall v, cdot w (fun _ => v) = 0) by (intros v; change (cdot w (all v) = 0); now rewrite cdot_all, Hw, dot_zero).
  induction e; intros a b H; cbn [vnorm] in H.
  - apply some_injective in H; injection H as <- <-; change (at_client (VC k)) with (nth k us (fun _ : C => zero)).
    rewrite (dot_cunit xs (C -> V) (fun _ => zero) cadd cscale cdot) by laws; unfold devs.
    assert (D : nth k (map deviation us) (fun _ => zero) = nth k (map deviation us) (deviation (fun _ => zero)) \/ nth k us (fun _ => zero) = (fun _ => zero) /\ nth k (map deviation us) (fun _ => zero) = (fun _ => zero)).
    { destruct (Nat.lt_ge_cases k (length us)) as [K|K]; [left; apply nth_indep; now rewrite map_length | right; split; apply nth_overflow; rewrite ?map_length; easy]. }
    destruct D as [D|[D1 D2]]; [rewrite D, map_nth | now rewrite D1, D2].
    change (deviation (nth k us (fun _ : C => zero))) with (cadd (nth k us (fun _ => zero)) (cscale (-1) (all (mean (nth k us (fun _ => zero)))))).
    rewrite cdot_add_r, cdot_scale_r, cdot_all, Hw, dot_zero; ring.
  - destruct (Nat.ltb k (length ws)); [|discriminate]; apply some_injective in H; injection H as <- <-; cbn [lval].
    change (at_client (VW k)) with (fun _ : C => nth k ws zero); rewrite Hc; now rewrite cdot_sym, cdot_zero_l.
  - destruct (vnorm nz ps zm (length ws) e) as [[a' b']|]; [|discriminate]; apply some_injective in H; injection H as <- <-.
    change (at_client (VMean e)) with (fun _ : C => mean (at_client e)); rewrite Hc; cbn [lval]; now rewrite cdot_sym, cdot_zero_l.
  - destruct (vnorm nz ps zm (length ws) e1) as [[a1 b1]|] eqn:E1, (vnorm nz ps zm (length ws) e2) as [[a2 b2]|] eqn:E2; try discriminate.
    apply some_injective in H; injection H as <- <-; change (at_client (VAdd e1 e2)) with (cadd (at_client e1) (at_client e2)).
    rewrite cdot_add_r, (IHe1 _ _ eq_refl), (IHe2 _ _ eq_refl), (dot_ladd nz xs (C -> V) (fun _ => zero) cadd cscale cdot) by laws; easy.
  - destruct (vnorm nz ps zm (length ws) e1) as [[a1 b1]|] eqn:E1, (vnorm nz ps zm (length ws) e2) as [[a2 b2]|] eqn:E2; try discriminate.
    apply some_injective in H; injection H as <- <-; change (at_client (VSub e1 e2)) with (cadd (at_client e1) (cscale (-1) (at_client e2))).
    destruct (sem_mean e2 a2 b2 E2) as (_ & _ & B2); assert (S : sallowed nz [((-1)%Q, [])] = true) by now destruct nz.
    rewrite cdot_add_r, cdot_scale_r, (IHe1 _ _ eq_refl), (IHe2 _ _ eq_refl), (dot_ladd nz xs (C -> V) (fun _ => zero) cadd cscale cdot),
      (dot_lscale nz xs N (C -> V) (fun _ => zero) cadd cscale cdot) by (trivial; laws).
    cbn [sval pval]; rewrite Q2R_Z; ring.
  - destruct (to_sum nz ps r) as [s|] eqn:E; [|discriminate]; destruct (vnorm nz ps zm (length ws) e) as [[a' b']|] eqn:E1; [|discriminate].
    apply some_injective in H; injection H as <- <-; destruct (to_sum_ok l ps xs nz F N r s E) as [VS AS]; destruct (sem_mean e a' b' E1) as (_ & _ & B).
    change (at_client (VScale r e)) with (cscale (rval xs r) (at_client e)).
    rewrite cdot_scale_r, (IHe _ _ eq_refl), (dot_lscale nz xs N (C -> V) (fun _ => zero) cadd cscale cdot), VS by (trivial; laws); easy.
  - apply some_injective in H; injection H as <- <-; reflexivity.
Qed.
Lemma mean_deviation (u : C -> V) : mean (deviation u) = zero.
Proof. change (mean (cadd u (cscale (-1) (all (mean u)))) = zero); rewrite mean_cadd, mean_cscale, mean_all; same; ring. Qed.
Lemma mean_lvalC b : mean (lvalC b devs) = zero.
Proof.
  unfold devs; generalize us; intros vs; revert b; induction vs as [|u vs IH]; intros [|x b]; cbn [lval map]; try apply (@mean_all V C).
  rewrite mean_cadd, mean_cscale, mean_deviation, IH; same; ring.
Qed.
Lemma split_cdot (u v : C -> V) : cdot u v = dot (mean u) (mean v) + cdot (deviation u) v.
Proof. change (deviation u) with (cadd u (cscale (-1) (all (mean u)))); rewrite cdot_add, cdot_scale, cdot_all_l, (dot_sym _ (mean v) (mean u)); ring. Qed.
Theorem product_ok e e' a b a' b' : vnorm nz ps zm (length ws) e = Some (a, b) -> vnorm nz ps zm (length ws) e' = Some (a', b') ->
  cdot (at_client e) (at_client e') = dot (lvalV a parts) (lvalV a' parts) + cdot (lvalC b devs) (lvalC b' devs).
Proof.
  intros E E'; rewrite split_cdot; destruct (sem_mean e a b E) as (-> & _ & _), (sem_mean e' a' b' E') as (-> & _ & _); f_equal.
  rewrite (sem_deviation e' _ (mean_deviation _) a' b' E'), cdot_sym.
  change (deviation (at_client e)) with (cadd (at_client e) (cscale (-1) (all (mean (at_client e))))).
  rewrite cdot_add_r, cdot_scale_r, cdot_all, mean_lvalC, dot_zero, (sem_deviation e _ (mean_lvalC b') a b E), cdot_sym; ring.
Qed.
End Vectors.
