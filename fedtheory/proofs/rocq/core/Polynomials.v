(* Polynomials in several variables with fractions as coefficients: Horner's form and its arithmetic are those of Coq's tactic [ring]. *)
From Coq Require Export Reals List Lra Lia.
From Coq Require BinList.
From Coq Require Import QArith Qreals Ring_polynom Ring_theory InitialRing RealField Setoid.
Export ListNotations.
Close Scope Q_scope.
Open Scope R_scope.

(* ---- fractions: gcd is taken only of denominators that differ, and of products of two fractions ------------------------------------------------------ *)
Definition qadd (a b : Q) : Q :=
  if Pos.eqb (Qden a) (Qden b) then Qmake (Qnum a + Qnum b) (Qden a)
  else let '(_, (d, e)) := Pos.ggcd (Qden a) (Qden b) in Qmake (Qnum a * Z.pos e + Qnum b * Z.pos d) (Qden a * e).
Definition qmul (a b : Q) : Q :=
  match Qden a, Qden b with
  | 1%positive, d | d, 1%positive => Qmake (Qnum a * Qnum b) d
  | _, _ => Qred (a * b)
  end.
Definition qopp (a : Q) : Q := Qmake (- Qnum a) (Qden a).
Definition qsub (a b : Q) : Q := qadd a (qopp b).

Lemma Q2R_red x : Q2R (Qred x) = Q2R x. Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma Q2R_Z z : Q2R (Qmake z 1) = IZR z. Proof. unfold Q2R; cbn; field. Qed.
Lemma Q2R_0 : Q2R 0%Q = 0. Proof. apply Q2R_Z. Qed.
Lemma Q2R_1 : Q2R 1%Q = 1. Proof. apply Q2R_Z. Qed.
Lemma Q2R_opp' a : Q2R (qopp a) = - Q2R a. Proof. apply Q2R_opp. Qed.
Lemma Q2R_add a b : Q2R (qadd a b) = Q2R a + Q2R b.
Proof.
  unfold qadd; destruct (Pos.eqb_spec (Qden a) (Qden b)) as [E|E]; [unfold Q2R; cbn [Qnum Qden]; rewrite <- E, plus_IZR; ring|].
  pose proof (Pos.ggcd_correct_divisors (Qden a) (Qden b)) as G; destruct (Pos.ggcd (Qden a) (Qden b)) as [g [d e]]; destruct G as [A B].
  unfold Q2R; cbn [Qnum Qden]; rewrite A, B, plus_IZR, !mult_IZR, !Pos2Z.inj_mul, !mult_IZR; field; repeat split; now apply not_0_IZR.
Qed.
Lemma Q2R_mul a b : Q2R (qmul a b) = Q2R a * Q2R b.
Proof.
  destruct a as [n d], b as [m e]; unfold qmul; cbn [Qnum Qden].
  destruct d, e; try (now rewrite Q2R_red, Q2R_mult); unfold Q2R; cbn [Qnum Qden]; rewrite ?mult_IZR; field; now apply not_0_IZR.
Qed.
Lemma Q2R_sub a b : Q2R (qsub a b) = Q2R a - Q2R b.
Proof. unfold qsub; rewrite Q2R_add, Q2R_opp'; ring. Qed.
Lemma Q2R_zero x : Qeq_bool x 0 = true -> Q2R x = 0.
Proof. intros H; rewrite <- Q2R_0; apply Qeq_eqR; now apply Qeq_bool_eq. Qed.
Lemma Q2R_nonneg x : Qle_bool 0 x = true -> 0 <= Q2R x.
Proof. intros H; rewrite <- Q2R_0; now apply Qle_Rle, Qle_bool_iff. Qed.
Lemma Q2R_nonzero x : Qeq_bool x 0 = false -> Q2R x <> 0.
Proof. intros H Z; rewrite <- Q2R_0 in Z; apply eqR_Qeq, Qeq_eq_bool in Z; congruence. Qed.
Lemma Q2R_pos x : Qle_bool x 0 = false -> 0 < Q2R x.
Proof.
  intros H; apply Rnot_le_lt; intros Z; rewrite <- Q2R_0 in Z; apply Rle_Qle, Qle_bool_iff in Z; congruence.
Qed.

(* ---- polynomials ------------------------------------------------------------------------------------------------- *)
Definition polynomial := Pol Q.
Definition pconst (c : Q) : polynomial := Pc c.
Definition padd : polynomial -> polynomial -> polynomial := Padd 0%Q qadd Qeq_bool.
Definition pmul : polynomial -> polynomial -> polynomial := Pmul 0%Q 1%Q qadd qmul Qeq_bool.
Definition popp : polynomial -> polynomial := Popp qopp.
Definition psub (a b : polynomial) : polynomial := padd a (popp b).
Definition pscale (c : Q) (p : polynomial) : polynomial := pmul (Pc c) p.
Definition peqb : polynomial -> polynomial -> bool := Peq Qeq_bool.
Definition pX : polynomial := PX (Pc 1%Q) 1 (Pc 0%Q).
Definition pvar (k : nat) : polynomial := match k with O => pX | S k => Pinj (Pos.of_succ_nat k) pX end.
Fixpoint ppow (p : polynomial) (n : nat) : polynomial :=
  match n with O => Pc 1%Q | S O => p | S n => pmul p (ppow p n) end.
Definition peval : list R -> polynomial -> R := Pphi 0 Rplus Rmult Q2R.

Lemma Q_morph : ring_morph 0 1 Rplus Rmult Rminus Ropp eq 0%Q 1%Q qadd qmul qsub qopp Qeq_bool Q2R.
Proof.
  constructor; intros; rewrite ?Q2R_add, ?Q2R_mul, ?Q2R_sub, ?Q2R_opp'; try easy;
    [apply Q2R_0 | apply Q2R_1 | now apply Qeq_eqR, Qeq_bool_eq].
Qed.
Lemma R_ring : almost_ring_theory 0 1 Rplus Rmult Rminus Ropp eq.
Proof. apply (Rth_ARth (Eqsth R) (Eq_ext Rplus Rmult Ropp) RTheory). Qed.

Lemma peval_const l c : peval l (pconst c) = Q2R c. Proof. reflexivity. Qed.
Lemma peval_add l p q : peval l (padd p q) = peval l p + peval l q.
Proof. exact (Padd_ok (Eqsth R) (Eq_ext Rplus Rmult Ropp) R_ring Q_morph q p l). Qed.
Lemma peval_mul l p q : peval l (pmul p q) = peval l p * peval l q.
Proof. exact (Pmul_ok (Eqsth R) (Eq_ext Rplus Rmult Ropp) R_ring Q_morph p q l). Qed.
Lemma peval_opp l p : peval l (popp p) = - peval l p.
Proof. exact (Popp_ok (Eqsth R) (Eq_ext Rplus Rmult Ropp) R_ring Q_morph p l). Qed.
Lemma peval_sub l p q : peval l (psub p q) = peval l p - peval l q.
Proof. unfold psub; rewrite peval_add, peval_opp; ring. Qed.
Lemma peval_scale l c p : peval l (pscale c p) = Q2R c * peval l p.
Proof. apply peval_mul. Qed.
Lemma peval_pow l p n : peval l (ppow p n) = peval l p ^ n.
Proof.
  induction n as [|[|n] IH]; [apply Q2R_1 | cbn; ring |].
  change (ppow p (S (S n))) with (pmul p (ppow p (S n))); rewrite peval_mul, IH; reflexivity.
Qed.
Lemma skipn_tl (l : list R) k : skipn k (tl l) = tl (skipn k l).
Proof.
  revert l; induction k as [|k IH]; intros l; [easy|]; destruct l as [|x l]; cbn [tl]; [now rewrite skipn_nil|].
  cbn [skipn]; rewrite <- IH; now destruct l; cbn; rewrite ?skipn_nil.
Qed.
Lemma jump_skipn (l : list R) k : BinList.jump (Pos.of_succ_nat k) l = skipn (S k) l.
Proof.
  revert l; induction k as [|k IH]; intros l; [now destruct l|].
  cbn [Pos.of_succ_nat]; rewrite BinList.jump_succ, IH; change (BinList.jump 1 (skipn (S k) l)) with (tl (skipn (S k) l)); rewrite <- skipn_tl; now destruct l as [|x [|y l]].
Qed.
Lemma hd_skipn (l : list R) k : hd 0 (skipn k l) = nth k l 0.
Proof. revert l; induction k as [|k IH]; intros [|x l]; cbn; try easy; apply IH. Qed.
Lemma peval_var l k : peval l (pvar k) = nth k l 0.
Proof.
  assert (X : forall l, peval l pX = hd 0 l) by (intros m; cbn; rewrite Q2R_0, Q2R_1; ring).
  destruct k as [|k]; [rewrite X; now destruct l|].
  change (peval (BinList.jump (Pos.of_succ_nat k) l) pX = nth (S k) l 0); now rewrite X, jump_skipn, hd_skipn.
Qed.
Lemma peqb_ok p q : peqb p q = true -> forall l, peval l p = peval l q.
Proof. exact (Peq_ok (Eqsth R) (Eq_ext Rplus Rmult Ropp) Q_morph p q). Qed.
Definition is_zero (p : polynomial) : bool := peqb p (Pc 0%Q).
Lemma is_zero_ok p : is_zero p = true -> forall l, peval l p = 0.
Proof. intros H l; rewrite (peqb_ok _ _ H l); apply Q2R_0. Qed.
Opaque padd pmul popp peqb.

(* ---- the terms of a polynomial: coefficients and powers of the variables ----------------------------------------- *)
Definition pterm := (Q * list nat)%type.
Fixpoint monomial (l : list R) (e : list nat) : R := match e with [] => 1 | n :: e => hd 0 l ^ n * monomial (tl l) e end.
Definition term_value (l : list R) (t : pterm) : R := Q2R (fst t) * monomial l (snd t).
Fixpoint terms_value (l : list R) (ts : list pterm) : R := match ts with [] => 0 | t :: ts => term_value l t + terms_value l ts end.
Fixpoint zeros (n : nat) (e : list nat) : list nat := match n with O => e | S n => O :: zeros n e end.
Definition shift (i : positive) (t : pterm) : pterm :=
  (fst t, match snd t with [] => [Pos.to_nat i] | n :: e => (n + Pos.to_nat i)%nat :: e end).
Fixpoint terms_of (p : polynomial) : list pterm :=
  match p with
  | Pc c => if Qeq_bool c 0 then [] else [(c, [])]
  | Pinj j p => map (fun t => (fst t, zeros (Pos.to_nat j) (snd t))) (terms_of p)
  | PX p i q => map (shift i) (terms_of p) ++ map (fun t => (fst t, O :: snd t)) (terms_of q)
  end.
Lemma terms_app l s t : terms_value l (s ++ t) = terms_value l s + terms_value l t.
Proof. induction s as [|x s IH]; cbn [app terms_value]; [|rewrite IH]; ring. Qed.
Lemma monomial_zeros l n e : monomial l (zeros n e) = monomial (skipn n l) e.
Proof.
  revert l; induction n as [|n IH]; intros l; [easy|]; cbn [zeros monomial pow]; rewrite IH.
  destruct l; cbn [tl]; [rewrite !skipn_nil | change (skipn (S n) (r :: l)) with (skipn n l)]; ring.
Qed.
Lemma jump_to_nat (l : list R) j : BinList.jump j l = skipn (Pos.to_nat j) l.
Proof.
  destruct (Pos2Nat.is_succ j) as [k E]; rewrite E.
  assert (J : j = Pos.of_succ_nat k) by (apply Pos2Nat.inj; rewrite E, SuccNat2Pos.id_succ; easy).
  rewrite J; apply jump_skipn.
Qed.
Lemma terms_ok p : forall l, terms_value l (terms_of p) = peval l p.
Proof.
  induction p as [c|j p IH|p IHp i q IHq]; intros l; cbn [terms_of].
  - destruct (Qeq_bool c 0) eqn:Z; cbn; [now rewrite (Q2R_zero _ Z) | unfold term_value; cbn; ring].
  - change (peval l (Pinj j p)) with (peval (BinList.jump j l) p); rewrite <- IH, jump_to_nat; clear IH.
    induction (terms_of p) as [|t ts IHt]; [easy|]; cbn [map terms_value]; rewrite IHt; f_equal.
    unfold term_value; cbn [fst snd]; now rewrite monomial_zeros.
  - change (peval l (PX p i q)) with (peval l p * pow_pos Rmult (hd 0 l) i + peval (tl l) q).
    rewrite terms_app, <- IHp, <- IHq; clear IHp IHq; f_equal.
    + assert (P : pow_pos Rmult (hd 0 l) i = hd 0 l ^ Pos.to_nat i).
      { clear; induction i as [|i IH] using Pos.peano_ind; [change (hd 0 l = hd 0 l ^ 1); ring|].
        rewrite (pow_pos_succ (Eqsth R)); [|now intros a b -> c d -> | intros; ring].
        rewrite IH, Pos2Nat.inj_succ; reflexivity. }
      rewrite P; induction (terms_of p) as [|t ts IHt]; cbn [map terms_value]; [ring|].
      rewrite IHt, Rmult_plus_distr_r; f_equal; unfold term_value, shift; cbn [fst snd].
      destruct (snd t); cbn [monomial]; rewrite ?pow_add; ring.
    + induction (terms_of q) as [|t ts IHt]; [easy|]; cbn [map terms_value].
      rewrite IHt; f_equal; unfold term_value; cbn [fst snd monomial pow]; ring.
Qed.

(* ---- polynomials in the place of variables (Horner): the first of them is multiplied with last --------------------------- *)
Definition with_power (k : nat) (ts : list pterm) : list pterm :=
  map (fun t => (fst t, tl (snd t))) (filter (fun t => Nat.eqb (hd O (snd t)) k) ts).
Definition highest (ts : list pterm) : nat := fold_right (fun t d => Nat.max (hd O (snd t)) d) O ts.
Fixpoint compose (ps : list polynomial) (ts : list pterm) : polynomial :=
  match ts, ps with
  | [], _ => pconst 0%Q
  | _, [] => pconst (fold_right (fun t c => qadd (fst t) c) 0%Q ts)
  | _, p :: ps =>
      (fix down (k : nat) (acc : polynomial) : polynomial :=
        let next := padd (pmul acc p) (compose ps (with_power k ts)) in match k with O => next | S k => down k next end) (highest ts) (pconst 0%Q)
  end.
Lemma terms_by_power xs ts k x : terms_value (x :: xs) (filter (fun t => Nat.eqb (hd O (snd t)) k) ts) = x ^ k * terms_value xs (with_power k ts).
Proof.
  unfold with_power; induction ts as [|t ts IH]; cbn [filter map terms_value]; [ring|]; destruct (Nat.eqb_spec (hd O (snd t)) k) as [E|E]; trivial.
  cbn [map terms_value]; rewrite IH; unfold term_value; cbn [fst snd]; rewrite <- E; destruct (snd t); cbn [monomial hd tl pow]; ring.
Qed.
Lemma terms_up_to xs ts n : terms_value xs (filter (fun t => Nat.leb (hd O (snd t)) (S n)) ts)
  = terms_value xs (filter (fun t => Nat.leb (hd O (snd t)) n) ts) + terms_value xs (filter (fun t => Nat.eqb (hd O (snd t)) (S n)) ts).
Proof.
  induction ts as [|t ts IH]; cbn [filter terms_value]; [ring|].
  destruct (Nat.leb_spec (hd O (snd t)) (S n)), (Nat.leb_spec (hd O (snd t)) n), (Nat.eqb_spec (hd O (snd t)) (S n)); try lia; cbn [terms_value]; rewrite IH; ring.
Qed.
Lemma terms_up_to_0 xs ts : terms_value xs (filter (fun t => Nat.leb (hd O (snd t)) 0) ts) = terms_value xs (filter (fun t => Nat.eqb (hd O (snd t)) 0) ts).
Proof. f_equal; apply filter_ext; intros t; now destruct (hd O (snd t)). Qed.
Lemma terms_highest xs ts : terms_value xs (filter (fun t => Nat.leb (hd O (snd t)) (highest ts)) ts) = terms_value xs ts.
Proof.
  assert (G : forall n us, (highest us <= n)%nat -> terms_value xs (filter (fun t => Nat.leb (hd O (snd t)) n) us) = terms_value xs us).
  { intros n; induction us as [|t us IH]; intros H; cbn [filter]; trivial; cbn [highest fold_right] in H; fold (highest us) in H.
    destruct (Nat.leb_spec (hd O (snd t)) n); [|lia]; cbn [terms_value]; rewrite IH by lia; reflexivity. }
  now apply G.
Qed.
Theorem compose_ok l ps : forall ts, Forall (fun t => (length (snd t) <= length ps)%nat) ts -> peval l (compose ps ts) = terms_value (map (peval l) ps) ts.
Proof.
  induction ps as [|p ps IH]; intros [|t ts] F; try (cbn [compose terms_value]; rewrite peval_const, Q2R_0; reflexivity).
  - cbn [compose map]; rewrite peval_const; revert F; generalize (t :: ts); intros us F; induction F as [|u us L F IHu]; cbn [fold_right terms_value]; [apply Q2R_0|].
    rewrite Q2R_add, IHu; unfold term_value; destruct (snd u); cbn [length] in L; [cbn [monomial]; ring | lia].
  - cbn [compose map]; set (us := t :: ts) in *; clearbody us; set (xs := map (peval l) ps) in *; set (x := peval l p).
    assert (D : forall n acc, peval l ((fix down (k : nat) (acc : polynomial) : polynomial :=
        let next := padd (pmul acc p) (compose ps (with_power k us)) in match k with O => next | S k => down k next end) n acc)
      = peval l acc * x ^ S n + terms_value (x :: xs) (filter (fun t => Nat.leb (hd O (snd t)) n) us)).
    { assert (P : forall k, peval l (compose ps (with_power k us)) = terms_value xs (with_power k us)).
      { intros k; apply IH; unfold with_power; apply Forall_map, Forall_forall; intros u U; apply filter_In in U as [U _].
        rewrite Forall_forall in F; specialize (F u U); cbn [snd]; destruct (snd u); cbn [tl length] in *; lia. }
      induction n as [|n IHn]; intros acc.
      - rewrite peval_add, peval_mul, P, terms_up_to_0, terms_by_power; cbn [pow]; fold x; ring.
      - rewrite IHn, peval_add, peval_mul, P, terms_up_to, terms_by_power; cbn [pow]; fold x; ring. }
    rewrite D, peval_const, Q2R_0, terms_highest; ring.
Qed.
