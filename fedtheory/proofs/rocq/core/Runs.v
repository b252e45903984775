(* Rounds one after the other, and what theorems for every round are stated with. *)
From Fedtheory Require Export Classes Instances.
From Coq Require Export List.
Export ListNotations.
Open Scope R_scope.

(* the state after t rounds *)
Fixpoint run {S : Type} (round : S -> S) (t : nat) (s : S) : S := match t with O => s | Datatypes.S t => round (run round t s) end.

(* rounds with coins: every outcome with its probability; what a number of the state is in expectation after one round, and after t rounds *)
Definition step {S : Type} (outcomes : list (R * (S -> S))) (phi : S -> R) (s : S) : R :=
  fold_right (fun outcome rest => fst outcome * phi (snd outcome s) + rest) 0 outcomes.
Fixpoint expected {S : Type} (outcomes : list (R * (S -> S))) (t : nat) (phi : S -> R) (s : S) : R :=
  match t with O => phi s | Datatypes.S t => expected outcomes t (step outcomes phi) s end.

(* a law of states, finitely many with their probabilities; what a number is in expectation; and the law a round later, where each state has outcomes
   of its own with theirs *)
Definition is_law {S : Type} (law : list (R * S)) : Prop :=
  Forall (fun outcome => 0 <= fst outcome) law /\ fold_right (fun outcome rest => fst outcome + rest) 0 law = 1.
Definition mean_over {S : Type} (phi : S -> R) (law : list (R * S)) : R :=
  fold_right (fun outcome rest => fst outcome * phi (snd outcome) + rest) 0 law.
Definition drawn_from {S : Type} (next : S -> list (R * S) -> Prop) (law later : list (R * S)) : Prop :=
  exists branches, Forall2 (fun outcome branch => next (snd outcome) branch) law branches /\
    later = flat_map (fun pair => map (fun o => (fst (fst pair) * fst o, snd o)) (snd pair)) (List.combine law branches).

(* F first + ... + F last *)
Definition sum_of (F : nat -> R) (first last : nat) : R := total (fun k => F (first + k)%nat) (S last - first).

(* a limit as rounds go on *)
Definition tends (u : nat -> R) (a : R) : Prop := forall e, 0 < e -> exists n, forall t, (n <= t)%nat -> Rabs (u t - a) < e.
(* a limit along a set of rounds, and a set without end *)
Definition tends_in (J : nat -> Prop) (u : nat -> R) (a : R) : Prop :=
  forall e, 0 < e -> exists n, forall t, (n <= t)%nat -> J t -> Rabs (u t - a) < e.
Definition endless (J : nat -> Prop) : Prop := forall n, exists t, (n <= t)%nat /\ J t.
