(* Parameters on their region, the factors that numbers are made of, and the factors' signs: what a certificate is read in. *)
From Fedtheory Require Export Derivations.
From Coq Require Import QArith ZArith Bool.
Close Scope Q_scope.
Open Scope R_scope.

(* signs of all factors, each with a tree for every branch of the region: first of the [free + length region] numbers themselves, then of the compound factors.
   The first numbers lie in the region, the others are any. *)
Record setting := Setting { region : list range; free : nat; compound : list rexp; signs : list (sign * list tree) }.
Definition numbers (s : setting) : nat := (length (region s) + free s)%nat.
Definition polynomials (s : setting) : option (list polynomial) :=
  match all_some (map to_poly (compound s)) with Some ps => Some (map pvar (seq 0 (numbers s)) ++ ps) | None => None end.
Definition values (s : setting) (l : list R) : list R := l ++ map (rval l) (compound s).
Definition check_one (rs : list range) (p : polynomial) (st : sign * list tree) : bool :=
  match fst st with
  | Positive => check_sign rs true p (snd st) | Nonnegative => check_sign rs false p (snd st)
  | Negative => check_sign rs true (popp p) (snd st) | Nonpositive => check_sign rs false (popp p) (snd st)
  | Unknown => true
  end.
Fixpoint check_all (rs : list range) (ps : list polynomial) (ss : list (sign * list tree)) : bool :=
  match ps, ss with [], [] => true | p :: ps, s :: ss => (check_one rs p s && check_all rs ps ss)%bool | _, _ => false end.
Definition signs_of (s : setting) : list sign := map fst (signs s).
Definition setting_ok (s : setting) : bool :=
  match polynomials s with Some ps => check_all (region s) ps (signs s) | None => false end.

Lemma monomial_firstn e n l : (length e <= n)%nat -> monomial (firstn n l) e = monomial l e.
Proof.
  revert n l; induction e as [|k e IH]; intros n l H; cbn [monomial length] in *; trivial; destruct n as [|n]; [lia|].
  destruct l as [|x l]; cbn [firstn hd tl]; [easy|]; rewrite IH by lia; reflexivity.
Qed.
Lemma substitute_length fs p q l : substitute fs p = Some q -> peval (firstn (length fs) l) p = peval l p.
Proof.
  unfold substitute; intros H; rewrite <- !terms_ok; set (ds := degrees _ _) in H.
  assert (L : length (combine fs ds) = length fs) by (rewrite combine_length; subst ds; rewrite degrees_length; apply Nat.min_id); clearbody ds.
  assert (T : forall tables e r, substitute_term tables e = Some r -> (length e <= length tables)%nat).
  { clear; induction tables as [|t tables IH]; intros [|n e] r H; cbn [substitute_term length] in *; try lia; try discriminate.
    destruct (nth_error t _); [|discriminate]; destruct (substitute_term tables (tl (n :: e))) as [r'|] eqn:E; [|discriminate]; apply IH in E; cbn [tl] in E; lia. }
  revert q H; induction (terms_of p) as [|t ts IH]; intros q H; [easy|]; cbn [substitute_terms terms_value] in *.
  destruct (substitute_term _ (snd t)) as [a|] eqn:A; [|discriminate]; destruct (substitute_terms _ ts) as [b|]; [|discriminate].
  rewrite (IH b eq_refl); f_equal; unfold term_value; f_equal; apply monomial_firstn; apply T in A; rewrite map_length, L in A; exact A.
Qed.
Theorem check_sign_all rs strict p trees l : (length rs <= length l)%nat -> in_region l rs 0 -> check_sign rs strict p trees = true -> positive_or strict (peval l p).
Proof.
  intros N I H; pose proof (check_sign_ok rs strict p trees l N I H) as G.
  enough (peval (firstn (length rs) l) p = peval l p) as <- by exact G.
  unfold check_sign in H; destruct (branches rs [] []) as [bs|] eqn:B; [|discriminate].
  assert (S0 : stands l [] ([], [])) by (repeat split; cbn; trivial; intros; destruct k; easy || lra).
  destruct (branches_ok l rs [] [] bs [] S0 I B) as ([fs pos] & us & IN & (L & _) & LU); cbn [fst length Nat.add] in *.
  destruct (combine_cover bs (trees ++ repeat Leaf (length bs)) (fs, pos)) as [tr T]; [rewrite app_length, repeat_length; lia | easy |].
  rewrite forallb_forall in H; specialize (H _ T); cbn [fst snd] in H; destruct (substitute fs p) as [q|] eqn:Q; [|discriminate].
  rewrite <- LU, <- L; now apply (substitute_length fs p q).
Qed.
Lemma check_one_ok rs p st l : (length rs <= length l)%nat -> in_region l rs 0 -> check_one rs p st = true -> has_sign (fst st) (peval l p).
Proof.
  intros N I H; destruct st as [s trees]; unfold check_one in H; cbn [fst snd] in *; destruct s; cbn [has_sign]; trivial.
  - exact (check_sign_all rs true p trees l N I H).
  - exact (check_sign_all rs false p trees l N I H).
  - pose proof (check_sign_all rs true (popp p) trees l N I H) as G; cbn [positive_or] in G; rewrite peval_opp in G; lra.
  - pose proof (check_sign_all rs false (popp p) trees l N I H) as G; cbn [positive_or] in G; rewrite peval_opp in G; lra.
Qed.
Lemma check_all_ok rs l : (length rs <= length l)%nat -> in_region l rs 0 -> forall ps ss, check_all rs ps ss = true -> Forall2 has_sign (map fst ss) (map (peval l) ps).
Proof.
  intros N I; induction ps as [|p ps IH]; intros [|s ss] H; try discriminate; cbn [map]; constructor; cbn [check_all] in H; apply andb_prop in H as [H1 H2].
  - now apply (check_one_ok rs).
  - now apply IH.
Qed.
(* every member of a list, as nested conjunctions; and vectors that average to zero where a list says so *)
Fixpoint every {A} (P : A -> Prop) (l : list A) : Prop := match l with [] => True | a :: l => P a /\ every P l end.
Lemma every_forall {A} (P : A -> Prop) l : every P l -> Forall P l.
Proof. induction l as [|a l IH]; cbn; constructor; try apply IH; apply H. Qed.
Fixpoint zeros_where {V : space} {C : clients V} (zs : list bool) (us : list (C -> V)) : Prop :=
  match zs, us with true :: zs, u :: us => mean u = zero /\ zeros_where zs us | false :: zs, _ :: us => zeros_where zs us | [], _ => True | _, [] => False end.
Section Setting.
Variables (s : setting) (l : list R).
Hypotheses (OK : setting_ok s = true) (LL : length l = numbers s) (I : in_region l (region s) 0).
Lemma setting_facts : exists ps, polynomials s = Some ps /\ factors_are l ps (values s l) /\ Forall2 has_sign (signs_of s) (values s l).
Proof.
  unfold setting_ok in OK; destruct (polynomials s) as [ps|] eqn:P; [|discriminate]; exists ps.
  assert (V : values s l = map (peval l) ps).
  { unfold polynomials in P; destruct (all_some (map to_poly (compound s))) as [qs|] eqn:Q; [|discriminate]; apply some_injective in P; subst ps.
    unfold values; rewrite map_app, map_map; f_equal.
    - rewrite <- LL; clear; apply (nth_ext _ _ 0 0); [now rewrite map_length, seq_length|]; intros k K.
      set (f := fun x => peval l (pvar x)); rewrite (nth_indep (map f (seq 0 (length l))) 0 (f O)) by (now rewrite map_length, seq_length).
      rewrite map_nth, seq_nth by easy; unfold f; rewrite peval_var; reflexivity.
    - clear OK; revert qs Q; induction (compound s) as [|e es IH]; intros qs Q; cbn [map all_some] in Q; [apply some_injective in Q; subst qs; reflexivity|].
      destruct (to_poly e) as [p|] eqn:E; [|discriminate]; destruct (all_some (map to_poly es)) as [r|]; [|discriminate]; apply some_injective in Q; subst qs.
      cbn [map]; rewrite <- (IH r eq_refl), (to_poly_ok l e p E); reflexivity. }
  repeat split; trivial; rewrite V.
  - clear; unfold factors_are; induction ps; cbn; constructor; trivial.
  - apply (check_all_ok (region s)); trivial; unfold numbers in LL; lia.
Qed.

(* ---- the sign of an expression ------------------------------------------------------------------------------------------ *)
Definition expression_positive (strict : bool) (e : rexp) (trees : list tree) : bool :=
  match polynomials s with
  | None => false
  | Some ps => match to_sum (nonzeros (signs_of s)) ps e with
      | None => false
      | Some [] => negb strict
      | Some t => let low := least t in
          match expand ps low t with
          | None => false
          | Some p => let sg := sign_product (signs_of s) low in
              (allowed (nonzeros (signs_of s)) low &&
               ((match sg with Positive => true | Nonnegative => negb strict | _ => false end && check_sign (region s) strict p trees)
                || (match sg with Negative => true | Nonpositive => negb strict | _ => false end && check_sign (region s) strict (popp p) trees)))%bool
          end
      end
  end.
Theorem expression_positive_ok strict e trees : expression_positive strict e trees = true -> positive_or strict (rval (values s l) e).
Proof.
  unfold expression_positive; destruct setting_facts as (ps & P & F & S); rewrite P.
  pose proof (nonzeros_ok _ _ S) as N; destruct (to_sum _ ps e) as [t|] eqn:T; [|discriminate].
  rewrite (proj1 (to_sum_ok l ps _ _ F N e t T)); destruct t as [|m t]; [destruct strict; [discriminate | cbn; lra]|].
  set (u := m :: t); clearbody u; cbv zeta; destruct (expand ps (least u) u) as [p|] eqn:E; [|discriminate]; intros H; apply andb_prop in H as [A H].
  rewrite (expand_ok l ps _ _ _ F N A u p E); pose proof (sign_product_ok _ _ S (least u)) as SP.
  apply orb_prop in H as [H|H]; apply andb_prop in H as [H1 H2]; apply (check_sign_all _ _ _ _ l) in H2; trivial; try (unfold numbers in LL; lia);
    rewrite ?peval_opp in H2; destruct strict, (sign_product _ _); try discriminate; cbn [positive_or has_sign] in *; nra.
Qed.
Corollary expression_nonzero e trees : expression_positive true e trees = true -> rval (values s l) e <> 0.
Proof. intros H; pose proof (expression_positive_ok true e trees H) as G; cbn in G; lra. Qed.

(* ---- derivations --------------------------------------------------------------------------------------------------------- *)
Definition class_ok (k : class) : bool := match smoothness k with Some L => expression_positive true (RSub L (convexity k)) [] | None => true end.
Definition holds (c : certificate) : bool :=
  match polynomials s with Some ps => (accepts ps (signs_of s) c && forallb class_ok (classes c))%bool | None => false end.
Context {V : space} {C : clients V}.
Variables (ws : list V) (us : list (C -> V)) (vals : list R) (c : certificate).
Hypothesis WS : length ws = common_vectors c.
Hypothesis Z : zeros_where (zero_means c) us.
Notation xs := (values s l).
Notation env := (xs ++ quantity_values xs ws us vals c).
Definition functions_at (k : class) : Prop :=
  match smoothness k with
  | Some L => exists (f : C -> V -> R) (g : C -> V -> V), (forall i, in_class (rval env L) (rval env (convexity k)) (f i) (g i))
      /\ every (fun e => (forall i, g i (at_client xs ws us (point e) i) = at_client xs ws us (slope e) i)
                          /\ E (fun i => f i (at_client xs ws us (point e) i)) = rval env (height e)) (evaluations k)
  | None => exists f : C -> V -> R,
      every (fun e => (forall i, subgradient (f i) (at_client xs ws us (point e) i) (at_client xs ws us (slope e) i))
                       /\ E (fun i => f i (at_client xs ws us (point e) i)) = rval env (height e)) (evaluations k)
  end.
Theorem derived : holds c = true -> every functions_at (classes c) -> every (fun h => rval env h <= 0) (hypotheses c) -> rval env (conclusion c) <= 0.
Proof.
  unfold holds; destruct setting_facts as (ps & P & F & S); rewrite P; intros H FA HY; apply every_forall in FA; apply every_forall in HY; apply andb_prop in H as [H K].
  assert (LN : length (nonzeros (signs_of s)) = length xs) by apply (same_length _ _ _ (nonzeros_ok _ _ S)).
  apply (sound l xs ps (signs_of s) ws us vals F S c); trivial.
  - revert Z; clear; generalize us; intros vs; revert vs; induction (zero_means c) as [|b zs IH]; intros [|u vs] H k B.
    1, 2: destruct k; discriminate.
    + now destruct b.
    + destruct k as [|k]; cbn [nth zeros_where] in *; [subst b; apply H | destruct b; apply IH; trivial; apply H].
  - rewrite forallb_forall in K; rewrite Forall_forall in *; intros k IN; specialize (FA k IN); specialize (K k IN).
    unfold functions_at in FA; unfold in_class_at, class_ok in *; destruct (smoothness k) as [L|]; [|destruct FA as (f & FA); exists f; now apply every_forall].
    destruct FA as (f & g & FA1 & FA2); apply every_forall in FA2; exists f, g; split; [|easy].
    pose proof (expression_positive_ok _ _ _ K) as G; cbn [positive_or rval] in G.
    assert (X : forall e t, to_sum (nonzeros (signs_of s)) ps e = Some t -> rval env e = rval xs e).
    { induction e; intros t T; cbn [to_sum rval] in *;
        repeat match type of T with match to_sum ?n ?p ?e with _ => _ end = _ => let X := fresh "X" in destruct (to_sum n p e) eqn:X; [|discriminate T] end;
        try (rewrite (IHe1 _ eq_refl)); try (rewrite (IHe2 _ eq_refl)); try (rewrite (IHe _ eq_refl)); trivial.
      destruct (Nat.ltb_spec k0 (length (nonzeros (signs_of s)))); [|discriminate]; apply app_nth1; lia. }
    unfold expression_positive in K; rewrite P in K; cbn [to_sum] in K.
    destruct (to_sum _ ps L) as [t|] eqn:T1; [|discriminate]; destruct (to_sum _ ps (convexity k)) as [t'|] eqn:T2; [|discriminate].
    rewrite (X _ _ T1), (X _ _ T2); lra.
Qed.
End Setting.

(* a certificate whose multipliers and squares are whole numbers says a multiple of what it is for *)
Lemma unscaled (k : positive) (x : R) : IZR (Z.pos k) * x <= 0 -> x <= 0.
Proof. intros H; assert (0 < IZR (Z.pos k)) by (now apply (IZR_lt 0)); nra. Qed.
