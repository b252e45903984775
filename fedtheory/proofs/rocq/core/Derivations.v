(* Derivations as data: multipliers of inequalities and squares make an inequality between quantities. What checks them is proved sound once. *)
From Fedtheory Require Export Grams Regions.
From Coq Require Import QArith ZArith Bool.
Close Scope Q_scope.
Open Scope R_scope.

(* ---- linear forms in entries of the two Gram matrices and in values ----------------------------------------------------- *)
Record form := Form { on_parts : entries; on_devs : entries; on_values : combination; alone : sum }.
Definition form_add (a b : form) : form :=
  Form (eadd (on_parts a) (on_parts b)) (eadd (on_devs a) (on_devs b)) (ladd (on_values a) (on_values b)) (sadd (alone a) (alone b)).
Definition form_scale (s : sum) (a : form) : form :=
  Form (escale s (on_parts a)) (escale s (on_devs a)) (lscale s (on_values a)) (smul s (alone a)).
Definition form_zero : form := Form [] [] [] [].
Definition form_allowed (nz : list bool) (a : form) : bool :=
  (eallowed nz (on_parts a) && eallowed nz (on_devs a) && lallowed nz (on_values a) && sallowed nz (alone a))%bool.

(* ---- quantities, and expressions that are linear in them ----------------------------------------------------------------- *)
(* <a, b> of vectors that clients have in common; the average of <a_i, b_i> over the clients; a value *)
Inductive quantity := Dot (a b : vexp) | MeanDot (a b : vexp) | Value (k : nat).
Fixpoint affine (nz : list bool) (ps : list polynomial) (e : rexp) : option (combination * sum) :=
  let m := length nz in
  match e with
  | RV k => if Nat.ltb k m then match to_sum nz ps (RV k) with Some s => Some ([], s) | None => None end else Some (cunit (k - m), [])
  | RZ z => match to_sum nz ps (RZ z) with Some s => Some ([], s) | None => None end
  | RAdd a b => match affine nz ps a, affine nz ps b with Some (a, s), Some (b, t) => Some (ladd a b, sadd s t) | _, _ => None end
  | RSub a b => match affine nz ps a, affine nz ps b with
      | Some (a, s), Some (b, t) => Some (ladd a (lscale [((-1)%Q, [])] b), sadd s (sopp t)) | _, _ => None end
  | RMul a b => match affine nz ps a, affine nz ps b with
      | Some (a, s), Some (b, t) => match a, b with [], b => Some (lscale s b, smul s t) | a, [] => Some (lscale t a, smul t s) | _, _ => None end
      | _, _ => None end
  | RDiv a b => match affine nz ps a, affine nz ps b with
      | Some (a, s), Some (b, t) => match b, inverse nz ps t with [], Some u => Some (lscale u a, smul u s) | _, _ => None end
      | _, _ => None end
  | ROpp a => match affine nz ps a with Some (a, s) => Some (lscale [((-1)%Q, [])] a, sopp s) | None => None end
  | RInv _ | RPow _ _ => match to_sum nz ps e with Some s => Some ([], s) | None => None end
  end.
Definition form_of_quantity (nz : list bool) (ps : list polynomial) (zm : list bool) (nw : nat) (q : quantity) : option form :=
  match q with
  | Dot a b => if (is_common a && is_common b)%bool then match vnorm nz ps zm nw a, vnorm nz ps zm nw b with
      | Some (a, _), Some (b, _) => Some (Form (outer a b) [] [] []) | _, _ => None end else None
  | MeanDot a b => match vnorm nz ps zm nw a, vnorm nz ps zm nw b with
      | Some (a1, a2), Some (b1, b2) => Some (Form (outer a1 b1) (outer a2 b2) [] []) | _, _ => None end
  | Value k => Some (Form [] [] (cunit k) [])
  end.
Fixpoint form_of_combination (a : combination) (fs : list form) : form :=
  match a, fs with
  | [] :: a, _ :: fs => form_of_combination a fs
  | s :: a, f :: fs => form_add (form_scale s f) (form_of_combination a fs)
  | _, _ => form_zero
  end.
Fixpoint all_some {A} (l : list (option A)) : option (list A) :=
  match l with [] => Some [] | Some a :: l => match all_some l with Some l => Some (a :: l) | None => None end | None :: _ => None end.
Definition form_of (nz : list bool) (ps : list polynomial) (fs : list form) (e : rexp) : option form :=
  match affine nz ps e with Some (a, s) => Some (form_add (form_of_combination a fs) (Form [] [] [] s)) | None => None end.

Section Forms.
Context {V : space} {C : clients V}.
Variables (l xs : list R) (ps : list polynomial) (nz : list bool) (ws : list V) (us : list (C -> V)) (zm : list bool) (vals : list R).
Hypotheses (F : factors_are l ps xs) (N : Forall2 nowhere_zero nz xs).
Hypothesis Z : forall k, nth k zm false = true -> mean (nth k us (fun _ => zero)) = zero.
Fixpoint linear (a : combination) (vs : list R) : R := match a, vs with x :: a, v :: vs => sval xs x * v + linear a vs | _, _ => 0 end.
Definition quantity_value (q : quantity) : R :=
  match q with
  | Dot a b => dot (common xs ws us a) (common xs ws us b)
  | MeanDot a b => E (fun i => dot (at_client xs ws us a i) (at_client xs ws us b i))
  | Value k => nth k vals 0
  end.
Definition form_value (f : form) : R :=
  eval xs V dot (on_parts f) (parts ws us) + eval xs (C -> V) cdot (on_devs f) (devs us) + linear (on_values f) vals + sval xs (alone f).

Lemma linear_is a vs : linear a vs = rowval xs R (fun _ v => v) a 0 vs.
Proof. revert vs; induction a as [|x a IH]; intros [|v vs]; cbn; trivial; now rewrite IH. Qed.
Lemma linear_ladd a b vs : linear (ladd a b) vs = linear a vs + linear b vs.
Proof.
  revert b vs; induction a as [|x a IH]; intros [|y b] [|v vs]; cbn [ladd linear]; try ring.
  rewrite IH, (proj1 (sadd_ok nz xs x y)); ring.
Qed.
Lemma linear_lscale s a vs : sallowed nz s = true -> lallowed nz a = true -> linear (lscale s a) vs = sval xs s * linear a vs.
Proof.
  intros S; revert vs; induction a as [|x a IH]; intros [|v vs] A; cbn [lscale map linear] in *; try ring.
  cbn [lallowed forallb] in A; apply andb_prop in A as [A1 A2]; fold (lscale s a); rewrite (IH vs A2), (proj1 (smul_ok nz xs N s x S A1)); ring.
Qed.
Lemma linear_cunit k vs : linear (cunit k) vs = nth k vs 0.
Proof.
  revert vs; induction k as [|k IH]; intros [|v vs]; cbn [cunit linear nth]; trivial.
  - cbn [sval pval]; rewrite Q2R_1; destruct vs; cbn [linear]; ring.
  - rewrite IH; cbn [sval]; ring.
Qed.
Ltac split_allowed := repeat match goal with H : (_ && _)%bool = true |- _ => apply andb_prop in H as [? ?] end.
Ltac laws := first [exact N | apply dot_sym | apply dot_zero | apply dot_add | apply dot_scale | apply cdot_sym | apply cdot_zero_l | apply cdot_add | apply cdot_scale].
Lemma form_add_ok a b : form_value (form_add a b) = form_value a + form_value b /\
  (form_allowed nz a = true -> form_allowed nz b = true -> form_allowed nz (form_add a b) = true).
Proof.
  split.
  - unfold form_value, form_add; cbn [on_parts on_devs on_values alone].
    rewrite (proj1 (eadd_ok nz xs V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) (on_parts a) (on_parts b) _)).
    rewrite (proj1 (eadd_ok nz xs (C -> V) (fun _ => zero) cadd cscale cdot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) (on_devs a) (on_devs b) _)).
    rewrite linear_ladd, (proj1 (sadd_ok nz xs (alone a) (alone b))); ring.
  - unfold form_allowed; intros A B; split_allowed; unfold form_add; cbn [on_parts on_devs on_values alone]; repeat (apply andb_true_intro; split).
    + now apply (eadd_ok nz xs V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) _ _ []).
    + now apply (eadd_ok nz xs V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) _ _ []).
    + now apply (lallowed_ladd nz xs).
    + now apply (sadd_ok nz xs).
Qed.
Lemma form_scale_ok s a : sallowed nz s = true -> form_allowed nz a = true ->
  form_value (form_scale s a) = sval xs s * form_value a /\ form_allowed nz (form_scale s a) = true.
Proof.
  intros S A; unfold form_allowed in A; split_allowed; split.
  - unfold form_value, form_scale; cbn [on_parts on_devs on_values alone].
    rewrite (proj1 (escale_ok nz xs N V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) s (on_parts a) _ S ltac:(easy))).
    rewrite (proj1 (escale_ok nz xs N (C -> V) (fun _ => zero) cadd cscale cdot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) s (on_devs a) _ S ltac:(easy))).
    rewrite linear_lscale, (proj1 (smul_ok nz xs N s (alone a) S ltac:(easy))) by easy; ring.
  - unfold form_allowed, form_scale; cbn [on_parts on_devs on_values alone]; repeat (apply andb_true_intro; split).
    + now apply (escale_ok nz xs N V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) s _ []).
    + now apply (escale_ok nz xs N V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) s _ []).
    + now apply (lallowed_lscale nz xs N).
    + now apply (smul_ok nz xs N).
Qed.
Lemma form_zero_value : form_value form_zero = 0.
Proof. unfold form_value; cbn [on_parts on_devs on_values alone form_zero sval eval linear]; ring. Qed.
Lemma form_of_combination_ok a : forall fs qs, Forall2 (fun f q => form_value f = q /\ form_allowed nz f = true) fs qs -> lallowed nz a = true ->
  form_value (form_of_combination a fs) = linear a qs /\ form_allowed nz (form_of_combination a fs) = true.
Proof.
  induction a as [|s a IH]; intros fs qs FQ A; [cbn; now rewrite form_zero_value|].
  destruct FQ as [|f q fs qs [V1 A1] FQ]; [destruct s; cbn; now rewrite form_zero_value|].
  cbn [lallowed forallb] in A; split_allowed; destruct (IH fs qs FQ ltac:(easy)) as [V2 A2].
  assert (G : form_value (form_add (form_scale s f) (form_of_combination a fs)) = sval xs s * q + linear a qs /\ form_allowed nz (form_add (form_scale s f) (form_of_combination a fs)) = true).
  { destruct (form_scale_ok s f) as [V3 A3]; trivial; destruct (form_add_ok (form_scale s f) (form_of_combination a fs)) as [V4 A4].
    rewrite V4, V3, V2, V1; auto. }
  destruct s as [|m s]; [cbn [form_of_combination linear sval]; rewrite V2; split; [ring | easy] | exact G].
Qed.
Lemma affine_ok qs e : forall a s, affine nz ps e = Some (a, s) -> length nz = length xs ->
  rval (xs ++ qs) e = linear a qs + sval xs s /\ lallowed nz a = true /\ sallowed nz s = true.
Proof.
  intros a s H L; revert a s H.
  assert (const : forall r s, to_sum nz ps r = Some s -> rval (xs ++ qs) r = sval xs s /\ sallowed nz s = true).
  { assert (G : forall r s, to_sum nz ps r = Some s -> rval (xs ++ qs) r = rval xs r).
    { induction r; intros s H; cbn [to_sum rval] in *;
        repeat match type of H with match to_sum nz ps ?e with _ => _ end = _ => let X := fresh "X" in destruct (to_sum nz ps e) eqn:X; [|discriminate H] end;
        try (rewrite (IHr1 _ eq_refl)); try (rewrite (IHr2 _ eq_refl)); try (rewrite (IHr _ eq_refl)); trivial.
      destruct (Nat.ltb_spec k (length nz)); [|discriminate]; apply app_nth1; lia. }
    intros r s H; rewrite (G r s H); now apply (to_sum_ok l ps xs nz F N). }
  assert (m1 : sallowed nz [((-1)%Q, [])] = true) by now destruct nz.
  assert (v1 : sval xs [((-1)%Q, [])] = -1) by (cbn [sval pval]; rewrite Q2R_Z; ring).
  induction e; intros x t H; cbn [affine] in H;
    repeat match type of H with match affine nz ps ?e with _ => _ end = _ => let X := fresh "X" in destruct (affine nz ps e) as [[? ?]|] eqn:X; [|discriminate H] end.
  - destruct (Nat.ltb_spec k (length nz)) as [K|K].
    + destruct (to_sum nz ps (RV k)) as [r|] eqn:S; [|discriminate]; apply some_injective in H; injection H as <- <-.
      destruct (const _ _ S) as [-> A]; cbn [linear lallowed forallb]; repeat split; trivial; ring.
    + apply some_injective in H; injection H as <- <-; cbn [rval sval]; rewrite app_nth2, linear_cunit, <- L by lia.
      repeat split; [ring | apply cunit_allowed].
  - destruct (to_sum nz ps (RZ z)) as [r|] eqn:S; [|discriminate]; apply some_injective in H; injection H as <- <-.
    destruct (const _ _ S) as [-> A]; cbn [linear lallowed forallb]; repeat split; trivial; ring.
  - apply some_injective in H; injection H as <- <-; cbn [rval].
    destruct (IHe1 _ _ eq_refl) as (-> & A1 & B1), (IHe2 _ _ eq_refl) as (-> & A2 & B2); rewrite linear_ladd, (proj1 (sadd_ok nz xs _ _)).
    repeat split; [ring | now apply (lallowed_ladd nz xs) | now apply (sadd_ok nz xs)].
  - apply some_injective in H; injection H as <- <-; cbn [rval].
    destruct (IHe1 _ _ eq_refl) as (-> & A1 & B1), (IHe2 _ _ eq_refl) as (-> & A2 & B2).
    rewrite linear_ladd, linear_lscale, v1, (proj1 (sadd_ok nz xs _ _)), (proj1 (sopp_ok nz xs _)) by trivial.
    repeat split; [ring | apply (lallowed_ladd nz xs); trivial; now apply (lallowed_lscale nz xs N) | apply (sadd_ok nz xs); trivial; now apply (sopp_ok nz xs)].
  - cbn [rval]; destruct (IHe1 _ _ eq_refl) as (-> & A1 & B1), (IHe2 _ _ eq_refl) as (-> & A2 & B2).
    assert (G : forall a s b t, lallowed nz a = true -> sallowed nz s = true -> lallowed nz b = true -> sallowed nz t = true ->
      a = [] -> (linear a qs + sval xs s) * (linear b qs + sval xs t) = linear (lscale s b) qs + sval xs (smul s t) /\ lallowed nz (lscale s b) = true /\ sallowed nz (smul s t) = true).
    { intros a' s' b' u Ha Hs Hb Hu ->; cbn [linear]; rewrite linear_lscale, (proj1 (smul_ok nz xs N s' u Hs Hu)) by trivial.
      repeat split; [ring | now apply (lallowed_lscale nz xs N) | now apply (smul_ok nz xs N)]. }
    destruct c as [|y c].
    + apply some_injective in H; injection H as <- <-; now apply G.
    + destruct c0 as [|z c0]; [|discriminate]; apply some_injective in H; injection H as <- <-; rewrite Rmult_comm; now apply G.
  - destruct c0 as [|z c0]; [|discriminate]; destruct (inverse nz ps s0) as [u|] eqn:I; [|discriminate]; apply some_injective in H; injection H as <- <-; cbn [rval].
    destruct (IHe1 _ _ eq_refl) as (-> & A1 & B1), (IHe2 _ _ eq_refl) as (-> & A2 & B2).
    destruct (inverse_ok l ps xs nz F N s0 u B2 I) as [Vu U]; cbn [linear]; rewrite linear_lscale, (proj1 (smul_ok nz xs N u s U B1)), Vu by trivial.
    repeat split; [unfold Rdiv; rewrite Rplus_0_l; ring | now apply (lallowed_lscale nz xs N) | now apply (smul_ok nz xs N)].
  - apply some_injective in H; injection H as <- <-; cbn [rval]; destruct (IHe _ _ eq_refl) as (-> & A & B).
    rewrite linear_lscale, v1, (proj1 (sopp_ok nz xs _)) by trivial.
    repeat split; [ring | now apply (lallowed_lscale nz xs N) | now apply (sopp_ok nz xs)].
  - destruct (to_sum nz ps (RInv e)) as [r|] eqn:S; [|discriminate]; apply some_injective in H; injection H as <- <-.
    destruct (const _ _ S) as [-> A]; cbn [linear lallowed forallb]; repeat split; trivial; ring.
  - destruct (to_sum nz ps (RPow e n)) as [r|] eqn:S; [|discriminate]; apply some_injective in H; injection H as <- <-.
    destruct (const _ _ S) as [-> A]; cbn [linear lallowed forallb]; repeat split; trivial; ring.
Qed.
Notation norm := (vnorm nz ps zm (length ws)).
Lemma mean_dot_ok a b a1 a2 b1 b2 : norm a = Some (a1, a2) -> norm b = Some (b1, b2) ->
  form_value (Form (outer a1 b1) (outer a2 b2) [] []) = cdot (at_client xs ws us a) (at_client xs ws us b)
  /\ form_allowed nz (Form (outer a1 b1) (outer a2 b2) [] []) = true.
Proof.
  intros A B; destruct (sem_mean xs ws us l ps nz F N zm Z a a1 a2 A) as (_ & A1 & A2), (sem_mean xs ws us l ps nz F N zm Z b b1 b2 B) as (_ & B1 & B2).
  rewrite (product_ok xs ws us l ps nz F N zm Z a b a1 a2 b1 b2 A B); unfold form_value, form_allowed; cbn [on_parts on_devs on_values alone linear sval].
  destruct (outer_ok nz xs N V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) a1 b1 (parts ws us) A1 B1) as [-> ->].
  destruct (outer_ok nz xs N (C -> V) (fun _ => zero) cadd cscale cdot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) a2 b2 (devs us) A2 B2) as [-> ->].
  split; [ring | reflexivity].
Qed.
Lemma form_of_quantity_ok q f : form_of_quantity nz ps zm (length ws) q = Some f -> form_value f = quantity_value q /\ form_allowed nz f = true.
Proof.
  destruct q as [a b|a b|k]; cbn [form_of_quantity quantity_value]; intros H.
  - destruct (is_common a && is_common b)%bool eqn:I; [|discriminate]; split_allowed.
    destruct (norm a) as [[a1 a2]|] eqn:A, (norm b) as [[b1 b2]|] eqn:B; try discriminate; apply some_injective in H; subst f.
    destruct (sem_mean xs ws us l ps nz F N zm Z a a1 a2 A) as (MA & A1 & A2), (sem_mean xs ws us l ps nz F N zm Z b b1 b2 B) as (MB & B1 & B2).
    assert (G : forall e, is_common e = true -> mean (at_client xs ws us e) = common xs ws us e).
    { intros e E; transitivity (mean (@all V C (common xs ws us e))); [|apply mean_all].
      apply by_dot; intros w; rewrite !dot_mean; apply E_ext; intros i; now rewrite common_ok. }
    rewrite <- !G, MA, MB by easy; unfold form_value, form_allowed; cbn [on_parts on_devs on_values alone linear sval eval].
    destruct (outer_ok nz xs N V zero add scale dot ltac:(laws) ltac:(laws) ltac:(laws) ltac:(laws) a1 b1 (parts ws us) A1 B1) as [-> ->].
    split; [ring | reflexivity].
  - destruct (norm a) as [[a1 a2]|] eqn:A, (norm b) as [[b1 b2]|] eqn:B; try discriminate; apply some_injective in H; subst f.
    now apply mean_dot_ok.
  - apply some_injective in H; subst f; unfold form_value, form_allowed; cbn [on_parts on_devs on_values alone sval eval].
    rewrite linear_cunit, cunit_allowed; split; [ring | reflexivity].
Qed.
Theorem form_of_ok qs fs e f : length nz = length xs -> Forall2 (fun f q => form_value f = q /\ form_allowed nz f = true) fs qs ->
  form_of nz ps fs e = Some f -> rval (xs ++ qs) e = form_value f /\ form_allowed nz f = true.
Proof.
  intros L FQ H; unfold form_of in H; destruct (affine nz ps e) as [[a s]|] eqn:A; [|discriminate]; apply some_injective in H; subst f.
  destruct (affine_ok qs e a s A L) as (-> & B1 & B2); destruct (form_of_combination_ok a fs qs FQ B1) as [V2 A2].
  destruct (form_add_ok (form_of_combination a fs) (Form [] [] [] s)) as [V3 A3]; rewrite V3, V2; split.
  - unfold form_value at 1; cbn [on_parts on_devs on_values alone eval linear]; ring.
  - apply A3; trivial; unfold form_allowed; cbn; exact B2.
Qed.
Definition form_vanishes (f : form) : bool :=
  (entries_vanish nz ps (on_parts f) && entries_vanish nz ps (on_devs f) && row_vanishes nz ps (on_values f) && vanishes nz ps (alone f))%bool.
Lemma form_vanishes_ok f : form_vanishes f = true -> form_value f = 0.
Proof.
  intros H; unfold form_vanishes in H; split_allowed; unfold form_value.
  rewrite (entries_vanish_ok nz xs N V dot l ps F (on_parts f)), (entries_vanish_ok nz xs N (C -> V) cdot l ps F (on_devs f)), (vanishes_ok l ps xs nz (alone f) F N) by easy.
  assert (G : forall a vs, row_vanishes nz ps a = true -> linear a vs = 0).
  { induction a as [|x a IH]; intros [|v vs] A; cbn [linear]; trivial; cbn [row_vanishes forallb] in A; split_allowed.
    rewrite (IH vs), (vanishes_ok l ps xs nz x F N) by easy; ring. }
  rewrite G by easy; ring.
Qed.
End Forms.

(* ---- certificates ------------------------------------------------------------------------------------------------------- *)
Record evaluation := Evaluation { point : vexp; slope : vexp; height : rexp }.
(* a class of functions (without [smoothness]: convex functions), and where they are evaluated; numbers are expressions in parameters and quantities *)
Record class := Class { smoothness : option rexp; convexity : rexp; evaluations : list evaluation }.
Record certificate := Certificate {
  common_vectors : nat;             (* how many *)
  zero_means : list bool;           (* which vectors of the clients average to zero *)
  quantities : list quantity;
  classes : list class;
  hypotheses : list rexp;           (* each at most 0 *)
  of_pairs : list (nat * nat * nat * product);       (* class, two evaluations, and the multiplier of their inequality *)
  of_hypotheses : list (nat * product);
  squares : list (product * vexp);
  slack : product;
  conclusion : rexp                 (* at most 0 *)
}.

Section Check.
Variables (ps : list polynomial) (ss : list sign).
Notation nz := (nonzeros ss).
Definition nonneg (m : product) : bool := (is_nonneg (sign_of ss m) && allowed nz (snd m))%bool.
Definition mul_form (a1 a2 b1 b2 : combination) : form := Form (outer a1 b1) (outer a2 b2) [] [].
Definition minus (f : form) : form := form_scale [((-1)%Q, [])] f.
Definition lsub (a b : combination) : combination := ladd a (lscale [((-1)%Q, [])] b).
(* f_j - f_i + <g_j, x_i - x_j> <= 0 of convex functions; of smooth ones 2 (L - mu) times it with |dg|^2 + mu L |dx|^2 - 2 mu <dg, dx> added *)
Definition normal_evaluation := (combination * combination * combination * combination * form)%type.
Definition inequality (L : option sum) (mu : sum) (ei ej : normal_evaluation) : form :=
  let '(xi1, xi2, gi1, gi2, fi) := ei in let '(xj1, xj2, gj1, gj2, fj) := ej in
  let dx1 := lsub xi1 xj1 in let dx2 := lsub xi2 xj2 in
  let first := form_add (form_add fj (minus fi)) (mul_form gj1 gj2 dx1 dx2) in
  match L with
  | None => first
  | Some L => let dg1 := lsub gi1 gj1 in let dg2 := lsub gi2 gj2 in
      form_add (form_scale (smul [(2%Q, [])] (sadd L (sopp mu))) first)
        (form_add (mul_form dg1 dg2 dg1 dg2)
          (match mu with [] => form_zero
           | _ => form_add (form_scale (smul mu L) (mul_form dx1 dx2 dx1 dx2)) (form_scale (smul [((-2)%Q, [])] mu) (mul_form dg1 dg2 dx1 dx2)) end))
  end.
Definition normal (c : certificate) (fs : list form) (e : evaluation) : option normal_evaluation :=
  match vnorm nz ps (zero_means c) (common_vectors c) (point e), vnorm nz ps (zero_means c) (common_vectors c) (slope e), form_of nz ps fs (height e) with
  | Some (x1, x2), Some (g1, g2), Some f => Some (x1, x2, g1, g2, f) | _, _, _ => None end.
Definition normal_class := (option sum * sum * list normal_evaluation)%type.
Definition normal_class_of (c : certificate) (fs : list form) (k : class) : option normal_class :=
  match to_sum nz ps (convexity k), all_some (map (normal c fs) (evaluations k)), smoothness k with
  | Some mu, Some es, None => match mu with [] => Some (None, [], es) | _ => None end
  | Some mu, Some es, Some L => match to_sum nz ps L with Some L => Some (Some L, mu, es) | None => None end
  | _, _, _ => None
  end.
Definition of_pair (ks : list normal_class) (p : nat * nat * nat * product) : option form :=
  let '(k, i, j, m) := p in
  match nth_error ks k with
  | Some (L, mu, es) => match nth_error es i, nth_error es j with
      | Some a, Some b => if nonneg m then Some (form_scale [m] (inequality L mu a b)) else None | _, _ => None end
  | None => None
  end.
Definition of_hypothesis (hs : list form) (h : nat * product) : option form :=
  match nth_error hs (fst h) with Some f => if nonneg (snd h) then Some (form_scale [snd h] f) else None | None => None end.
Definition of_square (c : certificate) (s : product * vexp) : option form :=
  match vnorm nz ps (zero_means c) (common_vectors c) (snd s) with
  | Some (a1, a2) => if nonneg (fst s) then Some (form_scale [fst s] (mul_form a1 a2 a1 a2)) else None | None => None end.
Definition add_all (fs : list form) : form := fold_right form_add form_zero fs.
Definition accepts (c : certificate) : bool :=
  match all_some (map (form_of_quantity nz ps (zero_means c) (common_vectors c)) (quantities c)) with
  | None => false
  | Some fs =>
      match all_some (map (normal_class_of c fs) (classes c)), all_some (map (form_of nz ps fs) (hypotheses c)) with
      | Some ks, Some hs =>
          match all_some (map (of_pair ks) (of_pairs c)), all_some (map (of_hypothesis hs) (of_hypotheses c)), all_some (map (of_square c) (squares c)), form_of nz ps fs (conclusion c) with
          | Some a, Some b, Some d, Some f =>
              (nonneg (slack c) && form_vanishes ps nz (form_add f (form_add (minus (add_all (a ++ b))) (form_add (add_all d) (Form [] [] [] [slack c])))))%bool
          | _, _, _, _ => false
          end
      | _, _ => false
      end
  end.
End Check.

Section Sound.
Context {V : space} {C : clients V}.
Variables (l xs : list R) (ps : list polynomial) (ss : list sign) (ws : list V) (us : list (C -> V)) (vals : list R).
Hypotheses (F : factors_are l ps xs) (S : Forall2 has_sign ss xs).
Notation nz := (nonzeros ss).
Let N : Forall2 nowhere_zero nz xs := nonzeros_ok ss xs S.
Variable c : certificate.
Hypothesis WS : length ws = common_vectors c.
Hypothesis Z : forall k, nth k (zero_means c) false = true -> mean (nth k us (fun _ => zero)) = zero.
Definition quantity_values : list R := map (quantity_value xs ws us vals) (quantities c).
Notation env := (xs ++ quantity_values).
(* functions of the class have these gradients and values; of convex functions, these are subgradients *)
Definition in_class_at (k : class) : Prop :=
  match smoothness k with
  | Some L => exists (f : C -> V -> R) (g : C -> V -> V), rval env (convexity k) < rval env L /\ (forall i, in_class (rval env L) (rval env (convexity k)) (f i) (g i))
      /\ Forall (fun e => (forall i, g i (at_client xs ws us (point e) i) = at_client xs ws us (slope e) i)
                          /\ E (fun i => f i (at_client xs ws us (point e) i)) = rval env (height e)) (evaluations k)
  | None => exists f : C -> V -> R,
      Forall (fun e => (forall i, subgradient (f i) (at_client xs ws us (point e) i) (at_client xs ws us (slope e) i))
                       /\ E (fun i => f i (at_client xs ws us (point e) i)) = rval env (height e)) (evaluations k)
  end.
Notation fval := (form_value xs ws us vals).
Notation at_ := (at_client xs ws us).
Notation norm := (vnorm nz ps (zero_means c) (common_vectors c)).
Definition good (f : form) (x : R) : Prop := fval f = x /\ form_allowed nz f = true.
Lemma all_some_ok {A B} (f : A -> option B) (P : B -> A -> Prop) : (forall a b, f a = Some b -> P b a) ->
  forall la lb, all_some (map f la) = Some lb -> Forall2 P lb la.
Proof.
  intros H; induction la as [|a la IH]; intros lb E; cbn [map all_some] in E; [apply some_injective in E; subst lb; constructor|].
  destruct (f a) as [b|] eqn:FA; [|discriminate]; destruct (all_some (map f la)) as [r|]; [|discriminate]; apply some_injective in E; subst lb.
  constructor; auto.
Qed.
Lemma minus_ok f x : good f x -> good (minus f) (- x).
Proof.
  intros [Va Al]; assert (m1 : sallowed nz [((-1)%Q, [])] = true) by now destruct ss.
  destruct (form_scale_ok xs nz ws us vals N _ f m1 Al) as [V' A']; split; [|exact A']; unfold minus; rewrite V', Va; cbn [sval pval]; rewrite Q2R_Z; ring.
Qed.
Lemma good_add f g x y : good f x -> good g y -> good (form_add f g) (x + y).
Proof. intros [Va Al] [Wb Bl]; destruct (form_add_ok xs nz ws us vals f g) as [V' A']; split; [now rewrite V', Va, Wb | auto]. Qed.
Lemma good_scale s f x : sallowed nz s = true -> good f x -> good (form_scale s f) (sval xs s * x).
Proof. intros S' [Va Al]; destruct (form_scale_ok xs nz ws us vals N s f S' Al) as [V' A']; split; [now rewrite V', Va | exact A']. Qed.
Definition normal_vector (a : combination * combination) (u : C -> V) : Prop := exists e, norm e = Some a /\ (forall i, at_ e i = u i).
Lemma good_mul a1 a2 b1 b2 u v : normal_vector (a1, a2) u -> normal_vector (b1, b2) v -> good (mul_form a1 a2 b1 b2) (cdot u v).
Proof.
  intros (e & A & Eu) (e' & B & Ev); rewrite <- WS in *; destruct (mean_dot_ok l xs ps nz ws us (zero_means c) vals F N Z e e' a1 a2 b1 b2 A B) as [V0 A0].
  split; [|exact A0]; unfold mul_form; rewrite V0; apply E_ext; intros i; now rewrite Eu, Ev.
Qed.
Lemma normal_sub a1 a2 b1 b2 u v : normal_vector (a1, a2) u -> normal_vector (b1, b2) v -> normal_vector (lsub a1 b1, lsub a2 b2) (csub u v).
Proof.
  intros (e & A & Eu) (e' & B & Ev); exists (VSub e e'); split; [cbn [vnorm]; rewrite A, B; reflexivity|].
  intros i; cbn [at_client]; now rewrite Eu, Ev.
Qed.
Lemma good_zero : good form_zero 0.
Proof. split; [apply form_zero_value | reflexivity]. Qed.
Lemma inequality_ok L mu (f : C -> V -> R) (g : C -> V -> V) Lr mr : sval xs mu = mr -> sallowed nz mu = true ->
  match L with Some L => sval xs L = Lr /\ sallowed nz L = true /\ mr < Lr /\ (forall i, in_class Lr mr (f i) (g i)) | None => True end ->
  forall xi1 xi2 gi1 gi2 fi xj1 xj2 gj1 gj2 fj (xi gi xj gj : C -> V),
  normal_vector (xi1, xi2) xi -> normal_vector (gi1, gi2) gi -> normal_vector (xj1, xj2) xj -> normal_vector (gj1, gj2) gj ->
  good fi (value f xi) -> good fj (value f xj) ->
  match L with Some _ => (forall k, g k (xi k) = gi k) /\ (forall k, g k (xj k) = gj k) | None => forall k, subgradient (f k) (xj k) (gj k) end ->
  exists v, good (inequality L mu (xi1, xi2, gi1, gi2, fi) (xj1, xj2, gj1, gj2, fj)) v /\ v <= 0.
Proof.
  intros Hm Am HL xi1 xi2 gi1 gi2 fi xj1 xj2 gj1 gj2 fj xi gi xj gj Xi Gi Xj Gj Fi Fj HG; unfold inequality.
  pose proof (normal_sub _ _ _ _ _ _ Xi Xj) as DX; pose proof (normal_sub _ _ _ _ _ _ Gi Gj) as DG.
  pose proof (good_add _ _ _ _ (good_add _ _ _ _ Fj (minus_ok _ _ Fi)) (good_mul _ _ _ _ _ _ Gj DX)) as first.
  destruct L as [L|].
  - destruct HL as (VL & AL & LT & IC); destruct HG as [Ei Ej].
    assert (m2 : sallowed nz [((-2)%Q, [])] = true) by now destruct ss.
    assert (p2 : sallowed nz [(2%Q, [])] = true) by now destruct ss.
    assert (A1 : sallowed nz (sadd L (sopp mu)) = true) by (apply (sadd_ok nz xs); trivial; now apply (sopp_ok nz xs)).
    pose proof (interpolation_E Lr mr f g LT IC xi xj) as I.
    assert (T1 : grad g xi = gi \/ True) by now right.
    assert (I' : value f xj - value f xi + cdot gj (csub xi xj) + (cdot (csub gi gj) (csub gi gj) + mr * Lr * cdot (csub xi xj) (csub xi xj) - 2 * mr * cdot (csub gi gj) (csub xi xj)) / (2 * (Lr - mr)) <= 0).
    { replace (cdot gj (csub xi xj)) with (cdot (grad g xj) (csub xi xj)) by (apply E_ext; intros k; unfold grad; now rewrite Ej).
      replace (cdot (csub gi gj) (csub gi gj)) with (cdot (csub (grad g xi) (grad g xj)) (csub (grad g xi) (grad g xj)))
        by (apply E_ext; intros k; unfold grad, csub, cadd, cscale; now rewrite Ei, Ej).
      replace (cdot (csub gi gj) (csub xi xj)) with (cdot (csub (grad g xi) (grad g xj)) (csub xi xj))
        by (apply E_ext; intros k; unfold grad, csub, cadd, cscale; now rewrite Ei, Ej); exact I. }
    assert (S1 : sval xs (smul [(2%Q, [])] (sadd L (sopp mu))) = 2 * (Lr - mr)).
    { rewrite (proj1 (smul_ok nz xs N _ _ p2 A1)), (proj1 (sadd_ok nz xs _ _)), (proj1 (sopp_ok nz xs _)), VL, Hm; cbn [sval pval]; rewrite Q2R_Z; ring. }
    assert (S1A : sallowed nz (smul [(2%Q, [])] (sadd L (sopp mu))) = true) by (now apply (smul_ok nz xs N)).
    assert (S2 : sval xs (smul mu L) = mr * Lr) by (rewrite (proj1 (smul_ok nz xs N _ _ Am AL)), VL, Hm; reflexivity).
    assert (S2A : sallowed nz (smul mu L) = true) by (now apply (smul_ok nz xs N)).
    assert (S3 : sval xs (smul [((-2)%Q, [])] mu) = -2 * mr) by (rewrite (proj1 (smul_ok nz xs N _ _ m2 Am)), Hm; cbn [sval pval]; rewrite Q2R_Z; ring).
    assert (S3A : sallowed nz (smul [((-2)%Q, [])] mu) = true) by (now apply (smul_ok nz xs N)).
    assert (last : good (match mu with [] => form_zero | _ => form_add (form_scale (smul mu L) (mul_form (lsub xi1 xj1) (lsub xi2 xj2) (lsub xi1 xj1) (lsub xi2 xj2)))
        (form_scale (smul [((-2)%Q, [])] mu) (mul_form (lsub gi1 gj1) (lsub gi2 gj2) (lsub xi1 xj1) (lsub xi2 xj2))) end)
        (mr * Lr * cdot (csub xi xj) (csub xi xj) + -2 * mr * cdot (csub gi gj) (csub xi xj))).
    { pose proof (good_add _ _ _ _ (good_scale _ _ _ S2A (good_mul _ _ _ _ _ _ DX DX)) (good_scale _ _ _ S3A (good_mul _ _ _ _ _ _ DG DX))) as G.
      rewrite S2, S3 in G; destruct mu; [|exact G]; cbn [sval] in Hm; subst mr.
      replace (0 * Lr * cdot (csub xi xj) (csub xi xj) + -2 * 0 * cdot (csub gi gj) (csub xi xj)) with 0 by ring; apply good_zero. }
    eexists; split; [apply good_add; [apply good_scale; [exact S1A | exact first] | apply good_add; [apply (good_mul _ _ _ _ _ _ DG DG) | exact last]]|].
    rewrite S1; apply Rmult_le_reg_l with (/ (2 * (Lr - mr))); [apply Rinv_0_lt_compat; lra|].
    match type of I' with ?a <= 0 => match goal with |- ?b <= _ => replace b with a by (field; lra) end end; lra.
  - eexists; split; [exact first|]; pose proof (subgradient_E f xj gj HG xi) as I; lra.
Qed.
Lemma nonneg_ok m : nonneg ss m = true -> 0 <= sval xs [m] /\ sallowed nz [m] = true.
Proof.
  intros H; apply andb_prop in H as [P A]; destruct m as [q e]; cbn [sval sallowed forallb snd] in *; rewrite A; split; [|easy].
  pose proof (is_nonneg_ok _ _ (sign_of_ok ss xs (q, e) S) P) as G; unfold mval in G; cbn [fst snd] in G; lra.
Qed.
Lemma add_all_ok P fs : Forall (fun f => exists v, good f v /\ P v) fs -> (forall x y, P x -> P y -> P (x + y)) -> P 0 -> exists v, good (add_all fs) v /\ P v.
Proof.
  intros H A O; induction H as [|f fs (v & G & Pv) H IH]; [exists 0; split; [apply good_zero | exact O]|].
  destruct IH as (w & G' & Pw); exists (v + w); split; [now apply good_add | auto].
Qed.
Lemma forall2_forall {A B} (P : A -> B -> Prop) (Q : A -> Prop) la lb : (forall a b, P a b -> In b lb -> Q a) -> Forall2 P la lb -> Forall Q la.
Proof.
  intros H F2; revert H; induction F2 as [|a b la lb p F2 IH]; intros H; constructor; [apply (H a b p); now left | apply IH; intros; eapply H; eauto; now right].
Qed.
Lemma forall2_nth {A B} (P : A -> B -> Prop) la lb : Forall2 P la lb -> forall k a, nth_error la k = Some a -> exists b, nth_error lb k = Some b /\ P a b.
Proof. induction 1 as [|a b la lb p H IH]; intros [|k] x E; try discriminate; [apply some_injective in E; subst x; now exists b | now apply IH]. Qed.
Theorem sound : accepts ps ss c = true -> Forall in_class_at (classes c) -> Forall (fun h => rval env h <= 0) (hypotheses c) ->
  rval env (conclusion c) <= 0.
Proof.
  assert (LN : length nz = length xs) by apply (same_length _ _ _ N).
  unfold accepts; intros H IC HY.
  destruct (all_some (map (form_of_quantity _ _ _ _) (quantities c))) as [fs|] eqn:EQ; [|discriminate].
  destruct (all_some (map (normal_class_of _ _ _ _) (classes c))) as [ks|] eqn:EK; [|discriminate].
  destruct (all_some (map (form_of nz ps fs) (hypotheses c))) as [hs|] eqn:EH; [|discriminate].
  destruct (all_some (map (of_pair ss ks) (of_pairs c))) as [a|] eqn:EA; [|discriminate].
  destruct (all_some (map (of_hypothesis ss hs) (of_hypotheses c))) as [b|] eqn:EB; [|discriminate].
  destruct (all_some (map (of_square ps ss c) (squares c))) as [d|] eqn:ED; [|discriminate].
  destruct (form_of nz ps fs (conclusion c)) as [f|] eqn:EF; [|discriminate]; apply andb_prop in H as [NS VA].
  assert (FQ : Forall2 (fun f q => fval f = q /\ form_allowed nz f = true) fs quantity_values).
  { unfold quantity_values; apply (all_some_ok _ (fun f q => good f (quantity_value xs ws us vals q))) in EQ.
    - clear - EQ; induction EQ; cbn [map]; constructor; trivial.
    - intros q g G; rewrite <- WS in G; now apply (form_of_quantity_ok l xs ps nz ws us (zero_means c) vals F N Z). }
  assert (FO : forall e g, form_of nz ps fs e = Some g -> good g (rval env e)).
  { intros e g G; destruct (form_of_ok l xs ps nz ws us vals F N quantity_values fs e g LN FQ G) as [G1 G2]; split; [now rewrite G1 | easy]. }
  assert (TS : forall e s, to_sum nz ps e = Some s -> rval env e = sval xs s /\ sallowed nz s = true).
  { assert (G : forall r s, to_sum nz ps r = Some s -> rval env r = rval xs r).
    { induction r; intros s H; cbn [to_sum rval] in *;
        repeat match type of H with match to_sum nz ps ?e with _ => _ end = _ => let X := fresh "X" in destruct (to_sum nz ps e) eqn:X; [|discriminate H] end;
        try (rewrite (IHr1 _ eq_refl)); try (rewrite (IHr2 _ eq_refl)); try (rewrite (IHr _ eq_refl)); trivial.
      destruct (Nat.ltb_spec k (length nz)); [|discriminate]; apply app_nth1; lia. }
    intros r s R; rewrite (G r s R); now apply (to_sum_ok l ps xs nz F N). }
  assert (NV : forall e p, norm e = Some p -> normal_vector p (at_ e)) by (intros e p P; now exists e).
  assert (PAIRS : Forall (fun f => exists v, good f v /\ v <= 0) a).
  { apply (all_some_ok _ (fun f p => of_pair ss ks p = Some f)) in EA; [|trivial]; revert EA; apply forall2_forall.
    intros g [[[k i] j] m] G _; unfold of_pair in G; destruct (nth_error ks k) as [[[L mu] es]|] eqn:NK; [|discriminate].
    destruct (nth_error es i) as [ei|] eqn:NI; [|discriminate]; destruct (nth_error es j) as [ej|] eqn:NJ; [|discriminate].
    destruct (nonneg ss m) eqn:NM; [|discriminate]; apply some_injective in G; subst g; destruct (nonneg_ok m NM) as [PM AM].
    apply (all_some_ok _ (fun f p => normal_class_of ps ss c fs p = Some f)) in EK; [|trivial].
    destruct (forall2_nth _ _ _ EK k _ NK) as (cl & NC & HC); assert (ICk : in_class_at cl) by (rewrite Forall_forall in IC; apply IC; now apply nth_error_In with k).
    unfold normal_class_of in HC; destruct (to_sum nz ps (convexity cl)) as [mu'|] eqn:EM; [|discriminate].
    destruct (all_some (map (normal ps ss c fs) (evaluations cl))) as [es'|] eqn:EE; [|discriminate]; destruct (TS _ _ EM) as [VM AMu].
    apply (all_some_ok _ (fun f p => normal ps ss c fs p = Some f)) in EE; [|trivial].
    assert (EV : es' = es) by (destruct (smoothness cl) as [Le|]; [destruct (to_sum nz ps Le); congruence | destruct mu'; congruence]); subst es'.
    destruct (forall2_nth _ _ _ EE i _ NI) as (vi & NVi & HI), (forall2_nth _ _ _ EE j _ NJ) as (vj & NVj & HJ).
    unfold normal in HI, HJ.
    destruct (norm (point vi)) as [[xi1 xi2]|] eqn:PXi; [|discriminate]; destruct (norm (slope vi)) as [[gi1 gi2]|] eqn:PGi; [|discriminate].
    destruct (form_of nz ps fs (height vi)) as [fi|] eqn:PFi; [|discriminate]; apply some_injective in HI; subst ei.
    destruct (norm (point vj)) as [[xj1 xj2]|] eqn:PXj; [|discriminate]; destruct (norm (slope vj)) as [[gj1 gj2]|] eqn:PGj; [|discriminate].
    destruct (form_of nz ps fs (height vj)) as [fj|] eqn:PFj; [|discriminate]; apply some_injective in HJ; subst ej.
    assert (INi : In vi (evaluations cl)) by (now apply nth_error_In with i); assert (INj : In vj (evaluations cl)) by (now apply nth_error_In with j).
    assert (G : exists v, good (inequality L mu (xi1, xi2, gi1, gi2, fi) (xj1, xj2, gj1, gj2, fj)) v /\ v <= 0).
    { unfold in_class_at in ICk; destruct (smoothness cl) as [Le|] eqn:SM.
      - destruct (to_sum nz ps Le) as [L'|] eqn:EL; [|discriminate]; apply some_injective in HC; injection HC as <- <-.
        destruct ICk as (fn & gn & LT & IN & FE); rewrite Forall_forall in FE; destruct (FE vi INi) as [Gi Vi], (FE vj INj) as [Gj Vj].
        destruct (TS _ _ EL) as [VL AL].
        apply (inequality_ok (Some L') mu' fn gn (rval env Le) (rval env (convexity cl))) with (xi := at_ (point vi)) (gi := at_ (slope vi)) (xj := at_ (point vj)) (gj := at_ (slope vj)); auto.
        + unfold value; rewrite Vi; now apply FO.
        + unfold value; rewrite Vj; now apply FO.
      - destruct mu' as [|]; [|discriminate]; apply some_injective in HC; injection HC as <- <-.
        destruct ICk as (fn & FE); rewrite Forall_forall in FE; destruct (FE vi INi) as [Gi Vi], (FE vj INj) as [Gj Vj].
        apply (inequality_ok None [] fn (fun _ v => v) 0 (rval env (convexity cl))) with (xi := at_ (point vi)) (gi := at_ (slope vi)) (xj := at_ (point vj)) (gj := at_ (slope vj)); auto.
        + unfold value; rewrite Vi; now apply FO.
        + unfold value; rewrite Vj; now apply FO. }
    destruct G as (v & Gv & Lv); eexists; split; [apply good_scale; [exact AM | exact Gv] | nra]. }
  assert (HYPS : Forall (fun f => exists v, good f v /\ v <= 0) b).
  { apply (all_some_ok _ (fun f p => of_hypothesis ss hs p = Some f)) in EB; [|trivial]; revert EB; apply forall2_forall.
    intros g [k m] G _; unfold of_hypothesis in G; cbn [fst snd] in G; destruct (nth_error hs k) as [h|] eqn:NK; [|discriminate].
    destruct (nonneg ss m) eqn:NM; [|discriminate]; apply some_injective in G; subst g; destruct (nonneg_ok m NM) as [PM AM].
    apply (all_some_ok _ (fun f p => form_of nz ps fs p = Some f)) in EH; [|trivial]; destruct (forall2_nth _ _ _ EH k _ NK) as (e & NE & HE).
    rewrite Forall_forall in HY; specialize (HY e (nth_error_In _ _ NE)); eexists; split; [apply good_scale; [exact AM | exact (FO _ _ HE)] | nra]. }
  assert (SQUARES : Forall (fun f => exists v, good f v /\ 0 <= v) d).
  { apply (all_some_ok _ (fun f p => of_square ps ss c p = Some f)) in ED; [|trivial]; revert ED; apply forall2_forall.
    intros g [m e] G _; unfold of_square in G; cbn [fst snd] in G; destruct (norm e) as [[a1 a2]|] eqn:NE; [|discriminate].
    destruct (nonneg ss m) eqn:NM; [|discriminate]; apply some_injective in G; subst g; destruct (nonneg_ok m NM) as [PM AM].
    eexists; split; [apply good_scale; [exact AM | apply (good_mul _ _ _ _ _ _ (NV _ _ NE) (NV _ _ NE))]|].
    apply Rmult_le_pos; [exact PM | apply cdot_pos]. }
  destruct (add_all_ok (fun v => v <= 0) (a ++ b)) as (v1 & G1 & L1); [apply Forall_app; split; trivial | intros; lra | lra |].
  destruct (add_all_ok (fun v => 0 <= v) d) as (v2 & G2 & L2); [trivial | intros; lra | lra |].
  destruct (nonneg_ok (slack c) NS) as [PS AS].
  assert (G3 : good (Form [] [] [] [slack c]) (sval xs [slack c])).
  { split; [unfold form_value; cbn [on_parts on_devs on_values alone eval linear]; ring | unfold form_allowed; cbn [on_parts on_devs on_values alone]; exact AS]. }
  pose proof (good_add _ _ _ _ (FO _ _ EF) (good_add _ _ _ _ (minus_ok _ _ G1) (good_add _ _ _ _ G2 G3))) as [VT _].
  rewrite (form_vanishes_ok l xs ps nz ws us vals F N _ VA) in VT; lra.
Qed.
End Sound.
