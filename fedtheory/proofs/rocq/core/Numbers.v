(* Numbers in proofs: expressions in parameters, written as sums of products of factors with whole exponents, which may be negative. *)
From Fedtheory Require Export Polynomials.
From Coq Require Import QArith Qreals ZArith Bool Ring_polynom.
Close Scope Q_scope.
Open Scope R_scope.

(* ---- expressions, and what they stand for: [RV k] is the k-th of the numbers that are given -------------------------- *)
Inductive rexp :=
  | RV (k : nat) | RZ (z : Z) | RAdd (a b : rexp) | RSub (a b : rexp) | RMul (a b : rexp) | RDiv (a b : rexp)
  | ROpp (a : rexp) | RInv (a : rexp) | RPow (a : rexp) (n : nat).
Fixpoint rval (xs : list R) (e : rexp) : R :=
  match e with
  | RV k => nth k xs 0 | RZ z => IZR z
  | RAdd a b => rval xs a + rval xs b | RSub a b => rval xs a - rval xs b
  | RMul a b => rval xs a * rval xs b | RDiv a b => rval xs a / rval xs b
  | ROpp a => - rval xs a | RInv a => / rval xs a | RPow a n => rval xs a ^ n
  end.

(* ---- expressions without division by what is no number, as polynomials ---------------------------------------------- *)
Definition constant_of (p : polynomial) : option Q := match p with Pc c => Some c | _ => None end.
Fixpoint to_poly (e : rexp) : option polynomial :=
  match e with
  | RV k => Some (pvar k) | RZ z => Some (pconst (Qmake z 1))
  | RAdd a b => match to_poly a, to_poly b with Some p, Some q => Some (padd p q) | _, _ => None end
  | RSub a b => match to_poly a, to_poly b with Some p, Some q => Some (psub p q) | _, _ => None end
  | RMul a b => match to_poly a, to_poly b with Some p, Some q => Some (pmul p q) | _, _ => None end
  | RDiv a b => match to_poly a, to_poly b with
      | Some p, Some (Pc c) => if Qeq_bool c 0 then None else Some (pscale (Qinv c) p) | _, _ => None end
  | ROpp a => match to_poly a with Some p => Some (popp p) | _ => None end
  | RInv a => match to_poly a with Some (Pc c) => if Qeq_bool c 0 then None else Some (pconst (Qinv c)) | _ => None end
  | RPow a n => match to_poly a with Some p => Some (ppow p n) | _ => None end
  end.
Lemma Q2R_inv' c : Qeq_bool c 0 = false -> Q2R (Qinv c) = / Q2R c.
Proof. intros H; apply Q2R_inv; intros E; apply Qeq_bool_iff in E; congruence. Qed.
Lemma to_poly_ok l e : forall p, to_poly e = Some p -> rval l e = peval l p.
Proof.
  induction e; intros p H; cbn [to_poly rval] in *;
    repeat match type of H with context [match ?x with _ => _ end] => let E := fresh "E" in destruct x eqn:E; try discriminate H end;
    injection H as <-;
    rewrite ?peval_var, ?peval_const, ?Q2R_Z, ?peval_add, ?peval_sub, ?peval_mul, ?peval_opp, ?peval_pow, ?peval_scale; try easy;
    try (rewrite (IHe1 _ eq_refl)); try (rewrite (IHe2 _ eq_refl)); try (rewrite (IHe _ eq_refl)); try easy.
  all: match goal with |- context [peval ?m (Pc ?q)] => change (peval m (Pc q)) with (Q2R q) end; rewrite Q2R_inv' by easy; unfold Rdiv; ring.
Qed.

(* ---- products of powers of the factors ------------------------------------------------------------------------------- *)
Definition powers := list Z.
Fixpoint pval (xs : list R) (e : powers) {struct e} : R := match e, xs with z :: e, x :: xs => powerRZ x z * pval xs e | _, _ => 1 end.
(* which factors are nowhere zero; only these may have negative powers *)
Definition nowhere_zero (b : bool) (x : R) : Prop := b = true -> x <> 0.
Fixpoint allowed (nz : list bool) (e : powers) {struct e} : bool :=
  match e, nz with [], _ => true | z :: e, b :: nz => ((b || (0 <=? z)%Z) && allowed nz e)%bool | _, _ => false end.
Fixpoint zadd (a b : powers) : powers := match a, b with [], _ => b | _, [] => a | x :: a, y :: b => (x + y)%Z :: zadd a b end.
Definition zopp (a : powers) : powers := map Z.opp a.
Fixpoint zunit (k : nat) : powers := match k with O => [1%Z] | S k => 0%Z :: zunit k end.
Fixpoint zsub (a b : powers) : powers := match a, b with a, [] => a | [], b => zopp b | x :: a, y :: b => (x - y)%Z :: zsub a b end.
Fixpoint zmin (a b : powers) : powers :=
  match a, b with [], b => map (Z.min 0) b | a, [] => map (Z.min 0) a | x :: a, y :: b => Z.min x y :: zmin a b end.

Lemma powerRZ_nonneg x z : (0 <= z)%Z -> powerRZ x z = x ^ Z.to_nat z.
Proof. intros H; now rewrite pow_powerRZ, Z2Nat.id. Qed.
Lemma powerRZ_add_ok b x y z : nowhere_zero b x -> (b || (0 <=? y)%Z)%bool = true -> (b || (0 <=? z)%Z)%bool = true ->
  powerRZ x (y + z) = powerRZ x y * powerRZ x z.
Proof.
  destruct b; cbn; intros N Y Z; [apply powerRZ_add, N; reflexivity|].
  apply Z.leb_le in Y, Z; rewrite !powerRZ_nonneg, Z2Nat.inj_add, pow_add by lia; reflexivity.
Qed.
Lemma pval_zadd nz xs : Forall2 nowhere_zero nz xs -> forall a b, allowed nz a = true -> allowed nz b = true ->
  pval xs (zadd a b) = pval xs a * pval xs b /\ allowed nz (zadd a b) = true.
Proof.
  induction 1 as [|c x nz xs N F IH]; intros [|y a] [|z b] A B; try discriminate; cbn [zadd pval allowed] in *;
    try (split; [ring | easy]).
  apply andb_prop in A as [A1 A2]; apply andb_prop in B as [B1 B2]; destruct (IH a b A2 B2) as [E1 E2].
  rewrite (powerRZ_add_ok c x y z N A1 B1), E1, E2; split; [ring|].
  rewrite andb_true_r; destruct c; [easy|]; cbn in *; apply Z.leb_le in A1, B1; apply Z.leb_le; lia.
Qed.
Lemma allowed_zunit nz k : (k < length nz)%nat -> allowed nz (zunit k) = true.
Proof. revert nz; induction k as [|k IH]; intros [|b nz] H; cbn in *; try lia; rewrite orb_true_r; apply IH; lia. Qed.
Lemma pval_zunit xs k : (k < length xs)%nat -> pval xs (zunit k) = nth k xs 0.
Proof.
  revert xs; induction k as [|k IH]; intros [|x xs] H; cbn [zunit pval nth length] in *; try lia.
  - rewrite powerRZ_1; ring.
  - rewrite IH by lia; cbn; ring.
Qed.
(* factors with a power other than 0 are nowhere zero *)
Fixpoint invertible (nz : list bool) (e : powers) {struct e} : bool :=
  match e, nz with [], _ => true | z :: e, b :: nz => ((b || (z =? 0)%Z) && invertible nz e)%bool | _, _ => false end.
Lemma pval_zopp nz xs : Forall2 nowhere_zero nz xs -> forall e, invertible nz e = true ->
  pval xs e <> 0 /\ pval xs (zopp e) = / pval xs e /\ allowed nz (zopp e) = true.
Proof.
  induction 1 as [|c x nz xs N F IH]; intros [|z e] A; try discriminate; cbn [zopp map pval invertible allowed] in *.
  1, 2: repeat split; [lra | field].
  apply andb_prop in A as [A1 A2]; destruct (IH e A2) as (E1 & E2 & E3); fold (zopp e); rewrite E2, E3, andb_true_r.
  destruct c; cbn in *.
  - specialize (N eq_refl); pose proof (powerRZ_NOR x z N) as P.
    repeat split; [now apply Rmult_integral_contrapositive_currified |].
    assert (I : powerRZ x (- z) = / powerRZ x z).
    { apply Rmult_eq_reg_l with (powerRZ x z); [|easy]; rewrite <- powerRZ_add, Z.add_opp_diag_r, Rinv_r by easy; easy. }
    rewrite I; field; easy.
  - apply Z.eqb_eq in A1 as ->; cbn; repeat split; [lra | field; easy].
Qed.

(* ---- sums of such products ------------------------------------------------------------------------------------------- *)
Definition product := (Q * powers)%type.
Definition sum := list product.
Fixpoint sval (xs : list R) (s : sum) : R := match s with [] => 0 | (q, e) :: s => Q2R q * pval xs e + sval xs s end.
Definition sallowed (nz : list bool) (s : sum) : bool := forallb (fun t => allowed nz (snd t)) s.
Fixpoint against_zero (a : powers) : comparison :=
  match a with [] => Eq | z :: a => match Z.compare z 0 with Eq => against_zero a | c => c end end.
Fixpoint compare (a b : powers) : comparison :=
  match a, b with
  | [], b => CompOpp (against_zero b) | a, [] => against_zero a
  | y :: a, z :: b => match Z.compare y z with Eq => compare a b | c => c end
  end.
Fixpoint sadd (s t : sum) : sum :=
  match s with
  | [] => t
  | (p, a) :: s' => (fix insert (t : sum) : sum := match t with
      | [] => s
      | (q, b) :: t' => match compare a b with
          | Lt => (p, a) :: sadd s' t
          | Gt => (q, b) :: insert t'
          | Eq => let r := qadd p q in if Qeq_bool r 0 then sadd s' t' else (r, a) :: sadd s' t' end end) t
  end.
Definition stimes (m : product) (s : sum) : sum := map (fun t => (qmul (fst m) (fst t), zadd (snd m) (snd t))) s.
Definition sopp (s : sum) : sum := map (fun t => (qopp (fst t), snd t)) s.
Fixpoint smul (s t : sum) : sum := match s with [] => [] | m :: s => sadd (stimes m t) (smul s t) end.
Fixpoint spow (s : sum) (n : nat) : sum := match n with O => [(1%Q, [])] | S O => s | S n => smul s (spow s n) end.

Lemma against_zero_ok xs : forall b, against_zero b = Eq -> pval xs b = 1.
Proof.
  induction xs as [|x xs IH]; intros [|z b] H; cbn [against_zero pval] in *; try easy.
  destruct (Z.compare_spec z 0) as [->| |]; try discriminate; rewrite (IH b H); cbn; ring.
Qed.
Lemma compare_ok : forall a b xs, compare a b = Eq -> pval xs a = pval xs b.
Proof.
  induction a as [|y a IH]; intros [|z b] xs H; try easy.
  - symmetry; transitivity 1; [apply against_zero_ok; cbn [compare] in H; now destruct (against_zero (z :: b)) | now destruct xs].
  - transitivity 1; [now apply against_zero_ok | now destruct xs].
  - cbn [compare] in H; destruct (Z.compare_spec y z) as [->| |]; try discriminate.
    destruct xs as [|x xs]; cbn [pval]; [easy | now rewrite (IH b xs H)].
Qed.
Section Sums.
Variables (nz : list bool) (xs : list R).
Hypothesis N : Forall2 nowhere_zero nz xs.
Lemma sadd_ok : forall s t, sval xs (sadd s t) = sval xs s + sval xs t /\ (sallowed nz s = true -> sallowed nz t = true -> sallowed nz (sadd s t) = true).
Proof.
  induction s as [|[p a] s IH]; [intros t; cbn; split; [ring | easy]|].
  induction t as [|[q b] t IHt]; [cbn; split; [ring | easy]|]; cbn [sadd].
  fold (sadd ((p, a) :: s) t); change ((fix insert (t : sum) : sum := _) t) with (sadd ((p, a) :: s) t).
  destruct (compare a b) eqn:C.
  - pose proof (compare_ok a b xs C) as E; destruct (IH t) as [V A].
    destruct (Qeq_bool (qadd p q) 0) eqn:Z; cbn [sval sallowed forallb snd] in *.
    + apply Q2R_zero in Z; rewrite Q2R_add in Z; rewrite V, <- E; split; [|intros S T; apply andb_prop in S as [? S]; apply andb_prop in T as [? T]; now apply A].
      replace (Q2R q) with (- Q2R p) by lra; ring.
    + rewrite V, Q2R_add, <- E; split; [ring|]; intros S T; apply andb_prop in S as [S1 S]; apply andb_prop in T as [? T]; apply andb_true_intro; split; [easy | now apply A].
  - destruct (IH ((q, b) :: t)) as [V A]; split; [refine (eq_trans (f_equal (fun v => Q2R p * pval xs a + v) V) _); cbn [sval]; ring|]; clear V; cbn [sallowed forallb snd] in *.
    intros S T; apply andb_prop in S as [S1 S]; apply andb_true_intro; split; [easy | now apply A].
  - destruct IHt as [V A]; split; [refine (eq_trans (f_equal (fun v => Q2R q * pval xs b + v) V) _); cbn [sval]; ring|]; clear V; cbn [sallowed forallb snd] in *.
    intros S T; apply andb_prop in T as [T1 T]; apply andb_true_intro; split; [easy | now apply A].
Qed.
Lemma stimes_ok m s : allowed nz (snd m) = true -> sallowed nz s = true ->
  sval xs (stimes m s) = Q2R (fst m) * pval xs (snd m) * sval xs s /\ sallowed nz (stimes m s) = true.
Proof.
  intros M; induction s as [|[q b] s IH]; intros S; [cbn; split; [ring | easy]|].
  cbn [stimes map sval sallowed forallb fst snd] in *; apply andb_prop in S as [S1 S]; destruct (IH S) as [V A].
  destruct (pval_zadd nz xs N _ _ M S1) as [P Q]; fold (stimes m s); rewrite V, P, Q, Q2R_mul; split; [ring | exact A].
Qed.
Lemma sopp_ok s : sval xs (sopp s) = - sval xs s /\ (sallowed nz s = true -> sallowed nz (sopp s) = true).
Proof.
  induction s as [|[q b] s [V A]]; [cbn; split; [ring | easy]|]; cbn [sopp map sval sallowed forallb fst snd] in *; fold (sopp s).
  rewrite V, Q2R_opp'; split; [ring|]; intros S; apply andb_prop in S as [S1 S]; rewrite S1; now apply A.
Qed.
Lemma smul_ok s t : sallowed nz s = true -> sallowed nz t = true ->
  sval xs (smul s t) = sval xs s * sval xs t /\ sallowed nz (smul s t) = true.
Proof.
  induction s as [|[q b] s IH]; intros S T; [cbn; split; [ring | easy]|]; cbn [smul].
  cbn [sallowed forallb snd] in S; apply andb_prop in S as [S1 S]; destruct (IH S T) as [V A].
  destruct (stimes_ok (q, b) t S1 T) as [V' A']; destruct (sadd_ok (stimes (q, b) t) (smul s t)) as [V'' A''].
  rewrite V'', V, V'; cbn [sval fst snd]; split; [ring | now apply A''].
Qed.
Lemma spow_ok s n : sallowed nz s = true -> sval xs (spow s n) = sval xs s ^ n /\ sallowed nz (spow s n) = true.
Proof.
  intros H; induction n as [|[|n] [V A]]; [cbn [spow sval pval pow]; rewrite Q2R_1; split; [ring | easy] | cbn [spow pow]; split; [ring | easy] |].
  change (spow s (S (S n))) with (smul s (spow s (S n))); destruct (smul_ok s _ H A) as [V' A']; rewrite V', V; split; [reflexivity | easy].
Qed.
End Sums.

(* ---- to one polynomial times one product ----------------------------------------------------------------------------- *)
Fixpoint least (s : sum) : powers := match s with [] => [] | [(_, e)] => e | (_, e) :: s => zmin e (least s) end.
Definition naturals (e : powers) : option (list nat) := if forallb (Z.leb 0) e then Some (map Z.to_nat e) else None.
Definition padded (n : nat) (e : list nat) : list nat := e ++ repeat O (n - length e).
Fixpoint to_terms (n : nat) (low : powers) (s : sum) : option (list pterm) :=
  match s with
  | [] => Some []
  | (q, e) :: s => match naturals (zsub e low), to_terms n low s with
      | Some k, Some ts => if Nat.leb (length k) n then Some ((q, rev (padded n k)) :: ts) else None | _, _ => None end
  end.
Definition expand (ps : list polynomial) (low : powers) (s : sum) : option polynomial :=
  match to_terms (length ps) low s with Some ts => Some (compose (rev ps) ts) | None => None end.
Definition factors_are (l : list R) (ps : list polynomial) (xs : list R) : Prop := Forall2 (fun p x => x = peval l p) ps xs.
Lemma same_length {A B} (P : A -> B -> Prop) a b : Forall2 P a b -> length a = length b. Proof. induction 1; cbn; congruence. Qed.
Lemma some_injective {A} (a b : A) : Some a = Some b -> a = b. Proof. congruence. Qed.
Lemma pval_naturals nz xs : Forall2 nowhere_zero nz xs -> forall e k, naturals e = Some k -> (length k <= length xs)%nat ->
  pval xs e = monomial xs k /\ allowed nz e = true.
Proof.
  unfold naturals; induction 1 as [|b x nz xs B F IH]; intros [|z e] k H L; cbn [forallb map] in H; try destruct (Z.leb_spec 0 z);
    cbn [andb] in H; try discriminate; try (apply some_injective in H; subst k; cbn [length] in L; try lia; cbn; split; trivial; ring).
  - destruct (forallb (Z.leb 0) e); [|discriminate]; apply some_injective in H; subst k; cbn [length] in L; lia.
  - destruct (forallb (Z.leb 0) e) eqn:E; [|discriminate]; apply some_injective in H; subst k; cbn [length] in L.
    destruct (IH e (map Z.to_nat e)) as [V A]; [now rewrite E | lia |].
    cbn [pval monomial hd tl map allowed]; rewrite V, A, powerRZ_nonneg, (proj2 (Z.leb_le 0 z)), orb_true_r by easy; split; trivial.
Qed.
Lemma monomial_padded xs n e : monomial xs (padded n e) = monomial xs e.
Proof.
  unfold padded; generalize (n - length e)%nat; intros m; revert xs; induction e as [|k e IH]; intros xs; cbn [app monomial]; [|now rewrite IH].
  revert xs; induction m as [|m IH]; intros xs; cbn [repeat monomial]; [easy|]; rewrite IH; cbn; ring.
Qed.
Lemma monomial_app xs ys e f : length xs = length e -> monomial (xs ++ ys) (e ++ f) = monomial xs e * monomial ys f.
Proof.
  revert e; induction xs as [|x xs IH]; intros [|k e] L; try discriminate; cbn [app monomial hd tl]; [ring|]; rewrite IH by (now injection L); ring.
Qed.
Lemma monomial_rev xs e : length xs = length e -> monomial (rev xs) (rev e) = monomial xs e.
Proof.
  revert e; induction xs as [|x xs IH]; intros [|k e] L; try discriminate; trivial; injection L as L.
  cbn [rev]; rewrite monomial_app by (now rewrite !rev_length); rewrite IH by easy; cbn [monomial hd tl]; ring.
Qed.
Lemma zsub_ok nz xs : Forall2 nowhere_zero nz xs -> forall e low, allowed nz low = true -> allowed nz (zsub e low) = true ->
  pval xs e = pval xs low * pval xs (zsub e low).
Proof.
  induction 1 as [|c x nz xs P F IH]; intros [|y e] [|z low] L A; cbn [zsub zopp map pval allowed] in *; try easy; try ring.
  - apply andb_prop in L as [L1 L2]; apply andb_prop in A as [A1 A2].
    assert (S : zsub [] low = zopp low) by now destruct low.
    fold (zopp low) in *; rewrite <- S in *; specialize (IH [] low L2 A2); cbn [pval] in IH; rewrite <- (powerRZ_O x) at 1.
    replace 0%Z with (z + - z)%Z at 1 by lia; rewrite (powerRZ_add_ok c x z (- z) P L1 A1).
    transitivity (powerRZ x z * powerRZ x (- z) * 1); [ring|]; rewrite IH; ring.
  - apply andb_prop in L as [L1 L2]; apply andb_prop in A as [A1 A2]; rewrite (IH e low L2 A2).
    replace y with (z + (y - z))%Z at 1 by lia; rewrite (powerRZ_add_ok c x z (y - z) P L1 A1); ring.
Qed.
Lemma expand_ok l ps xs nz low : factors_are l ps xs -> Forall2 nowhere_zero nz xs -> allowed nz low = true -> forall s p,
  expand ps low s = Some p -> sval xs s = pval xs low * peval l p.
Proof.
  intros F N L s p H; unfold expand in H; destruct (to_terms (length ps) low s) as [ts|] eqn:T; [|discriminate]; apply some_injective in H; subst p.
  assert (LX : length ps = length xs) by apply (same_length _ _ _ F).
  assert (X : map (peval l) (rev ps) = rev xs) by (rewrite map_rev; f_equal; clear - F; induction F; cbn; congruence).
  assert (G : Forall (fun t => (length (snd t) <= length (rev ps))%nat) ts /\ sval xs s = pval xs low * terms_value (rev xs) ts).
  { revert ts T; induction s as [|[q e] s IH]; intros ts T; cbn [to_terms sval] in *; [apply some_injective in T; subst ts; split; [constructor | cbn; ring]|].
    destruct (naturals (zsub e low)) as [k|] eqn:K; [|discriminate]; destruct (to_terms _ low s) as [us|]; [|discriminate].
    destruct (Nat.leb_spec (length k) (length ps)) as [LK|]; [|discriminate]; apply some_injective in T; subst ts.
    destruct (IH us eq_refl) as [FU V]; destruct (pval_naturals nz xs N _ _ K) as [W A]; [lia|].
    assert (LP : length (padded (length ps) k) = length ps) by (unfold padded; rewrite app_length, repeat_length; lia).
    split; [constructor; trivial; cbn [snd]; rewrite !rev_length, LP; reflexivity|].
    cbn [terms_value]; unfold term_value; cbn [fst snd]; rewrite V, (zsub_ok nz xs N e low L A), W, monomial_rev, monomial_padded by congruence; ring. }
  destruct G as [FT G]; rewrite G, compose_ok, X by exact FT; reflexivity.
Qed.
Definition vanishes (nz : list bool) (ps : list polynomial) (s : sum) : bool :=
  match s with [] => true | _ => let low := least s in
    (allowed nz low && match expand ps low s with Some p => is_zero p | None => false end)%bool end.
Theorem vanishes_ok l ps xs nz s : factors_are l ps xs -> Forall2 nowhere_zero nz xs -> vanishes nz ps s = true -> sval xs s = 0.
Proof.
  intros F N V; unfold vanishes in V; destruct s as [|t s]; [easy|]; set (u := t :: s) in *; clearbody u.
  apply andb_prop in V as [A V]; destruct (expand ps (least u) u) as [p|] eqn:E; [|discriminate].
  rewrite (expand_ok l ps xs nz _ F N A u p E), (is_zero_ok p V l); ring.
Qed.

(* ---- expressions as sums --------------------------------------------------------------------------------------------- *)
Definition inverse1 (nz : list bool) (m : product) : option sum :=
  if (negb (Qeq_bool (fst m) 0) && invertible nz (snd m))%bool then Some [(Qinv (fst m), zopp (snd m))] else None.
Fixpoint lead (p : polynomial) : Q := match p with Pc c => c | Pinj _ p => lead p | PX p _ _ => lead p end.
Fixpoint find_factor (p : polynomial) (ps : list polynomial) (k : nat) : option (Q * nat) :=
  match ps with
  | [] => None
  | q :: ps => let c := Qred (lead p / lead q)%Q in if peqb p (pscale c q) then Some (c, k) else find_factor p ps (S k)
  end.
Definition inverse (nz : list bool) (ps : list polynomial) (s : sum) : option sum :=
  match s with
  | [m] => inverse1 nz m
  | _ => let low := least s in
      match expand ps low s with
      | Some p => match find_factor p ps 0 with
          | Some (c, k) => if (allowed nz low && Nat.ltb k (length nz))%bool then inverse1 nz (c, zadd low (zunit k)) else None
          | None => None end
      | None => None end
  end.
Fixpoint to_sum (nz : list bool) (ps : list polynomial) (e : rexp) : option sum :=
  match e with
  | RV k => if Nat.ltb k (length nz) then Some [(1%Q, zunit k)] else None
  | RZ z => Some (if Z.eqb z 0 then [] else [(Qmake z 1, [])])
  | RAdd a b => match to_sum nz ps a, to_sum nz ps b with Some s, Some t => Some (sadd s t) | _, _ => None end
  | RSub a b => match to_sum nz ps a, to_sum nz ps b with Some s, Some t => Some (sadd s (sopp t)) | _, _ => None end
  | RMul a b => match to_sum nz ps a, to_sum nz ps b with Some s, Some t => Some (smul s t) | _, _ => None end
  | RDiv a b => match to_sum nz ps a, to_sum nz ps b with
      | Some s, Some t => match inverse nz ps t with Some r => Some (smul s r) | None => None end | _, _ => None end
  | ROpp a => match to_sum nz ps a with Some s => Some (sopp s) | _ => None end
  | RInv a => match to_sum nz ps a with Some s => inverse nz ps s | _ => None end
  | RPow a n => match to_sum nz ps a with Some s => Some (spow s n) | _ => None end
  end.
Section Expressions.
Variables (l : list R) (ps : list polynomial) (xs : list R) (nz : list bool).
Hypotheses (F : factors_are l ps xs) (N : Forall2 nowhere_zero nz xs).
Lemma inverse1_ok m s : inverse1 nz m = Some s -> sval xs s = / (Q2R (fst m) * pval xs (snd m)) /\ sallowed nz s = true.
Proof.
  unfold inverse1; intros H; destruct (negb _ && _)%bool eqn:E; [|discriminate]; injection H as <-; apply andb_prop in E as [Z I].
  destruct (pval_zopp nz xs N _ I) as (P & Q & A); apply negb_true_iff in Z; cbn [sval sallowed forallb snd]; rewrite Q, A, Q2R_inv' by easy.
  split; [|easy]; pose proof (Q2R_nonzero _ Z); field; easy.
Qed.
Lemma find_factor_ok p : forall qs c k j, find_factor p qs k = Some (c, j) -> exists i, (j = k + i)%nat /\ (i < length qs)%nat /\
  forall l, peval l p = Q2R c * peval l (nth i qs (pconst 0%Q)).
Proof.
  induction qs as [|q qs IH]; intros c k j H; [discriminate|]; cbn [find_factor] in H.
  destruct (peqb p (pscale (Qred (lead p / lead q)) q)) eqn:E.
  - injection H as <- <-; exists O; repeat split; [lia | cbn; lia |]; intros m; rewrite (peqb_ok _ _ E m); apply peval_scale.
  - destruct (IH c (S k) j H) as (i & J & L & V); exists (S i); repeat split; [lia | cbn; lia | exact V].
Qed.
Lemma inverse_ok t s : sallowed nz t = true -> inverse nz ps t = Some s -> sval xs s = / sval xs t /\ sallowed nz s = true.
Proof.
  intros T H; assert (G : forall u, (let low := least u in match expand ps low u with
      | Some p => match find_factor p ps 0 with
          | Some (c, k) => if (allowed nz low && Nat.ltb k (length nz))%bool then inverse1 nz (c, zadd low (zunit k)) else None
          | None => None end
      | None => None end) = Some s -> sval xs s = / sval xs u /\ sallowed nz s = true).
  { intros u; cbv zeta; destruct (expand ps (least u) u) as [p|] eqn:E; [|discriminate].
    destruct (find_factor p ps 0) as [[c k]|] eqn:K; [|discriminate].
    destruct (allowed nz (least u) && Nat.ltb k (length nz))%bool eqn:A; [|discriminate]; intros I.
    apply andb_prop in A as [A B]; apply Nat.ltb_lt in B; destruct (inverse1_ok _ _ I) as [V W]; split; [|exact W]; rewrite V; cbn [fst snd].
    destruct (find_factor_ok p ps c O k K) as (i & -> & L & P); cbn [Nat.add] in *.
    destruct (pval_zadd nz xs N _ _ A (allowed_zunit nz i B)) as [Y _]; rewrite Y, (expand_ok l ps xs nz _ F N A u p E), (P l), pval_zunit.
    - f_equal; replace (nth i xs 0) with (peval l (nth i ps (pconst 0%Q))); [ring|].
      clear - F L; unfold factors_are in F; revert i L; induction F as [|q x qs ys E F' IH]; intros [|i] L; [cbn in L; lia ..| easy | cbn [nth]; apply (IH F'), Nat.succ_lt_mono, L].
    - now rewrite <- (same_length _ _ _ N). }
  unfold inverse in H; destruct t as [|m [|m' t]]; try (now apply G).
  destruct (inverse1_ok _ _ H) as [V W]; destruct m as [q e]; cbn [sval fst snd] in *; rewrite V, Rplus_0_r; easy.
Qed.
Theorem to_sum_ok e : forall s, to_sum nz ps e = Some s -> rval xs e = sval xs s /\ sallowed nz s = true.
Proof.
  induction e; intros s H; cbn [to_sum rval] in *;
    repeat match type of H with match ?x with _ => _ end = _ => let E := fresh "E" in destruct x eqn:E; try discriminate H end;
    try (injection H as <-);
    repeat match goal with IH : forall s, Some ?t = Some s -> _ |- _ => destruct (IH t eq_refl) as [? ?]; clear IH end;
    repeat match goal with H : rval xs _ = _ |- _ => rewrite H; clear H end.
  - apply Nat.ltb_lt in E; cbn [sval sallowed forallb snd]; pose proof (same_length _ _ _ N); rewrite allowed_zunit, pval_zunit, Q2R_1 by lia.
    split; [ring | easy].
  - destruct (Z.eqb_spec z 0) as [->|Z]; cbn; rewrite ?Q2R_Z; split; try easy; ring.
  - destruct (sadd_ok nz xs s0 s1) as [V A]; rewrite V; split; [ring | now apply A].
  - destruct (sopp_ok nz xs s1) as [V' A']; destruct (sadd_ok nz xs s0 (sopp s1)) as [V A]; rewrite V, V'; split; [ring | auto].
  - destruct (smul_ok nz xs N s0 s1) as [V A]; auto; rewrite V; easy.
  - destruct (inverse_ok s1 s2) as [V' A']; auto; destruct (smul_ok nz xs N s0 s2) as [V A]; auto; rewrite V, V'; easy.
  - destruct (sopp_ok nz xs s0) as [V A]; rewrite V; split; auto.
  - destruct (inverse_ok s0 s) as [V' A']; auto; now rewrite V'.
  - destruct (spow_ok nz xs N s0 n) as [V A]; auto; now rewrite V.
Qed.
(* two expressions have the same value *)
Theorem zero_ok e : match to_sum nz ps e with Some s => vanishes nz ps s | None => false end = true -> rval xs e = 0.
Proof.
  intros H; destruct (to_sum nz ps e) as [s|] eqn:E; [|discriminate]; rewrite (proj1 (to_sum_ok e s E)); now apply (vanishes_ok l ps xs nz).
Qed.
End Expressions.

(* ---- signs ------------------------------------------------------------------------------------------------------------ *)
Inductive sign := Positive | Nonnegative | Negative | Nonpositive | Unknown.
Definition has_sign (s : sign) (x : R) : Prop :=
  match s with Positive => 0 < x | Nonnegative => 0 <= x | Negative => x < 0 | Nonpositive => x <= 0 | Unknown => True end.
Definition is_strict (s : sign) : bool := match s with Positive | Negative => true | _ => false end.
Definition sign_mul (s t : sign) : sign :=
  match s, t with
  | Unknown, _ | _, Unknown => Unknown
  | Positive, t => t | s, Positive => s
  | Negative, Negative => Positive | Negative, Nonnegative => Nonpositive | Negative, Nonpositive => Nonnegative
  | Nonnegative, Negative => Nonpositive | Nonpositive, Negative => Nonnegative
  | Nonnegative, Nonnegative => Nonnegative | Nonpositive, Nonpositive => Nonnegative | _, _ => Nonpositive
  end.
Definition sign_pow (s : sign) (z : Z) : sign :=
  if Z.eqb z 0 then Positive else
  if Z.even z then (if is_strict s then Positive else if Z.leb 0 z then Nonnegative else Unknown)
  else if (is_strict s || Z.leb 0 z)%bool then s else Unknown.
Definition sign_num (q : Q) : sign := if Qeq_bool q 0 then Nonnegative else if Qle_bool 0 q then Positive else Negative.
Fixpoint sign_product (ss : list sign) (e : powers) {struct e} : sign :=
  match e, ss with [], _ => Positive | z :: e, s :: ss => sign_mul (sign_pow s z) (sign_product ss e) | _, [] => Unknown end.
Definition sign_of (ss : list sign) (m : product) : sign := sign_mul (sign_num (fst m)) (sign_product ss (snd m)).
Definition is_nonneg (s : sign) : bool := match s with Positive | Nonnegative => true | _ => false end.

Lemma sign_mul_ok s t x y : has_sign s x -> has_sign t y -> has_sign (sign_mul s t) (x * y).
Proof. destruct s, t; cbn; intros; trivial; nra. Qed.
Lemma sign_num_ok q : has_sign (sign_num q) (Q2R q).
Proof.
  unfold sign_num; destruct (Qeq_bool q 0) eqn:Z; [cbn; rewrite (Q2R_zero _ Z); lra|].
  destruct (Qle_bool 0 q) eqn:P; cbn; pose proof (Q2R_nonzero _ Z); [pose proof (Q2R_nonneg _ P); lra|].
  apply Rnot_le_lt; intros H'; rewrite <- Q2R_0 in H'; apply Rle_Qle, Qle_bool_iff in H'; congruence.
Qed.
Lemma pow_even x n : 0 <= x ^ (2 * n). Proof. rewrite pow_mult; apply pow_le; nra. Qed.
Lemma sign_pow_nat s x n : has_sign s x -> has_sign (sign_pow s (Z.of_nat n)) (x ^ n).
Proof.
  intros H; unfold sign_pow; destruct (Z.eqb_spec (Z.of_nat n) 0) as [E|E]; [replace n with O by lia; cbn; lra|].
  assert (L : (0 <=? Z.of_nat n)%Z = true) by (apply Z.leb_le; lia); rewrite L, orb_true_r.
  destruct (Z.even (Z.of_nat n)) eqn:P.
  - assert (exists m, n = 2 * m)%nat as [m ->] by (apply Z.even_spec in P as [m P]; exists (Z.to_nat m); lia).
    pose proof (pow_even x m); destruct s; cbn in *; trivial.
    all: assert (x <> 0) by lra; pose proof (pow_nonzero x (2 * m)%nat ltac:(easy)); cbn [Nat.mul] in *; lra.
  - assert (exists m, n = S (2 * m))%nat as [m ->].
    { assert (O : Z.odd (Z.of_nat n) = true) by now rewrite <- Z.negb_even, P.
      apply Z.odd_spec in O as [m O]; exists (Z.to_nat m); lia. }
    pose proof (pow_even x m); cbn [pow]; destruct s; cbn [has_sign] in *; trivial.
    1, 3: assert (x <> 0) by lra; pose proof (pow_nonzero x (2 * m)%nat ltac:(easy)); nra.
    all: nra.
Qed.
Lemma sign_inv s x : has_sign s x -> is_strict s = true -> has_sign s (/ x).
Proof. destruct s; cbn; intros H E; try discriminate; [now apply Rinv_0_lt_compat | now apply Rinv_lt_0_compat]. Qed.
Lemma sign_pow_ok s x z : has_sign s x -> has_sign (sign_pow s z) (powerRZ x z).
Proof.
  intros H; destruct (Z.leb_spec 0 z) as [P|P].
  - rewrite powerRZ_nonneg by easy; rewrite <- (Z2Nat.id z) at 1 by easy; now apply sign_pow_nat.
  - destruct (is_strict s) eqn:S.
    + assert (X : x <> 0) by (destruct s; cbn in *; try discriminate; lra).
      assert (I : powerRZ x z = / x ^ Z.to_nat (- z)).
      { rewrite <- powerRZ_nonneg by lia; apply Rmult_eq_reg_l with (powerRZ x (- z)); [|now apply powerRZ_NOR].
        rewrite <- powerRZ_add, Z.add_opp_diag_l, Rinv_r by (try apply powerRZ_NOR; easy); easy. }
      rewrite I; pose proof (sign_pow_nat s x (Z.to_nat (- z)) H) as G; rewrite Z2Nat.id in G by lia.
      assert (E : sign_pow s (- z) = sign_pow s z).
      { unfold sign_pow; rewrite S, Z.even_opp; replace (- z =? 0)%Z with (z =? 0)%Z; [easy|].
        destruct (Z.eqb_spec z 0), (Z.eqb_spec (- z) 0); lia. }
      rewrite <- E; apply sign_inv; [easy|]; unfold sign_pow; rewrite S; destruct (Z.eqb (- z) 0), (Z.even (- z)); easy.
    + unfold sign_pow; destruct (Z.eqb_spec z 0); [lia|]; rewrite S; replace (0 <=? z)%Z with false by (symmetry; apply Z.leb_gt; lia).
      now destruct (Z.even z).
Qed.
Lemma sign_product_ok ss xs : Forall2 has_sign ss xs -> forall e, has_sign (sign_product ss e) (pval xs e).
Proof.
  induction 1 as [|s x ss xs H F IH]; intros [|z e]; cbn [sign_product pval]; try (cbn; lra); try easy.
  apply sign_mul_ok; [now apply sign_pow_ok | apply IH].
Qed.
Definition mval (xs : list R) (m : product) : R := Q2R (fst m) * pval xs (snd m).
Lemma sign_of_ok ss xs m : Forall2 has_sign ss xs -> has_sign (sign_of ss m) (mval xs m).
Proof. intros F; apply sign_mul_ok; [apply sign_num_ok | now apply sign_product_ok]. Qed.
Lemma is_nonneg_ok s x : has_sign s x -> is_nonneg s = true -> 0 <= x.
Proof. destruct s; cbn; intros; try discriminate; lra. Qed.
Definition nonzeros (ss : list sign) : list bool := map is_strict ss.
Lemma nonzeros_ok ss xs : Forall2 has_sign ss xs -> Forall2 nowhere_zero (nonzeros ss) xs.
Proof.
  induction 1 as [|s x ss xs H F IH]; cbn; constructor; trivial; intros E; destruct s; cbn in *; try discriminate; lra.
Qed.
