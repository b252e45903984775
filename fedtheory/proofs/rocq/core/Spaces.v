(* What theorems of fedtheory are stated with, and the facts that every proof uses. Coq's standard library only. *)
From Coq Require Export Reals Lra.
Global Open Scope R_scope.

(* ---- a real inner-product space, of any dimension ------------------------------------------------------------ *)

Record space := Space {
  vec :> Type;
  zero : vec;
  add : vec -> vec -> vec;
  scale : R -> vec -> vec;
  dot : vec -> vec -> R;
  dot_sym : forall u v, dot u v = dot v u;
  dot_zero : forall v, dot zero v = 0;
  dot_add : forall u v w, dot (add u v) w = dot u w + dot v w;
  dot_scale : forall a u v, dot (scale a u) v = a * dot u v;
  dot_pos : forall u, 0 <= dot u u;
  dot_definite : forall u v, dot (add u (scale (-1) v)) (add u (scale (-1) v)) = 0 -> u = v
}.
Arguments zero {_}. Arguments add {_}. Arguments scale {_}. Arguments dot {_}.
Declare Scope vec_scope. Delimit Scope vec_scope with V. Bind Scope vec_scope with vec.
Notation "u + v" := (add u v) : vec_scope.
Notation "a *: u" := (scale a u) (at level 38, right associativity) : vec_scope.
Notation "u - v" := (add u (scale (-1) v)) : vec_scope.
Notation norm2 u := (dot u u) (only parsing).

Section Space.
Context {V : space}.
Implicit Types u v w : V.
Lemma dot_add_r u v w : dot w (u + v)%V = dot w u + dot w v.
Proof. now rewrite dot_sym, dot_add, !(dot_sym _ w). Qed.
Lemma dot_scale_r a u v : dot v (a *: u)%V = a * dot v u.
Proof. now rewrite dot_sym, dot_scale, dot_sym. Qed.
Lemma dot_zero_r v : dot v zero = 0.
Proof. now rewrite dot_sym, dot_zero. Qed.
End Space.
Ltac dots := rewrite ?dot_add, ?dot_add_r, ?dot_scale, ?dot_scale_r, ?dot_zero, ?dot_zero_r.
(* two vectors are the same where the square of their difference is 0 *)
Ltac same := intros; apply dot_definite; repeat progress dots.

Lemma by_dot {V : space} (u v : V) : (forall w, dot u w = dot v w) -> u = v.
Proof. intros H; apply dot_definite; repeat progress dots; rewrite !H; ring. Qed.

(* a vector space, indeed *)
Section VectorSpace.
Context {V : space}.
Implicit Types u v w : V.
Fact add_comm u v : (u + v = v + u)%V. Proof. same; ring. Qed.
Fact add_assoc u v w : (u + (v + w) = (u + v) + w)%V. Proof. same; ring. Qed.
Fact add_zero u : (u + zero = u)%V. Proof. same; ring. Qed.
Fact add_opp u : (u - u = zero)%V. Proof. same; ring. Qed.
Fact scale_one u : (1 *: u = u)%V. Proof. same; ring. Qed.
Fact scale_scale a b u : (a *: b *: u = (a * b)%R *: u)%V. Proof. same; ring. Qed.
Fact scale_add a u v : (a *: (u + v) = a *: u + a *: v)%V. Proof. same; ring. Qed.
Fact add_scale a b u : ((a + b)%R *: u = a *: u + b *: u)%V. Proof. same; ring. Qed.
End VectorSpace.

(* ---- clients: any number of them, with any weights, or draws ---------------------------------------------------- *)

(* E averages numbers over clients, mean averages vectors; E is linear, monotone, and keeps constants *)
Record clients (V : space) := Clients {
  client :> Type;
  E : (client -> R) -> R;
  mean : (client -> V) -> V;
  E_add : forall a b, E (fun i => a i + b i) = E a + E b;
  E_scale : forall c a, E (fun i => c * a i) = c * E a;
  E_const : forall c, E (fun _ => c) = c;
  E_mono : forall a b, (forall i, a i <= b i) -> E a <= E b;
  dot_mean : forall u w, dot (mean u) w = E (fun i => dot (u i) w)
}.
Arguments E {_ _}. Arguments mean {_ _}. Arguments E_add {_ _}. Arguments E_scale {_ _}. Arguments E_const {_ _}.
Arguments E_mono {_ _}. Arguments dot_mean {_ _}.

Section Clients.
Context {V : space} {C : clients V}.
Lemma E_ext (a b : C -> R) : (forall i, a i = b i) -> E a = E b.
Proof. intros H; apply Rle_antisym; apply E_mono; intros; rewrite H; lra. Qed.
Lemma E_nonneg (a : C -> R) : (forall i, 0 <= a i) -> 0 <= E a.
Proof. intros H; rewrite <- (@E_const _ C 0); now apply E_mono. Qed.

(* vectors of all clients at once: combinations, the vector that all have, and E <u_i, v_i> *)
Definition all (w : V) : C -> V := fun _ => w.
Definition cadd (u v : C -> V) : C -> V := fun i => (u i + v i)%V.
Definition cscale (a : R) (u : C -> V) : C -> V := fun i => (a *: u i)%V.
Definition cdot (u v : C -> V) : R := E (fun i => dot (u i) (v i)).
Lemma cdot_sym u v : cdot u v = cdot v u.
Proof. apply E_ext; intros; apply dot_sym. Qed.
Lemma cdot_add u v w : cdot (cadd u v) w = cdot u w + cdot v w.
Proof. unfold cdot, cadd; rewrite <- E_add; apply E_ext; intros; apply dot_add. Qed.
Lemma cdot_add_r u v w : cdot w (cadd u v) = cdot w u + cdot w v.
Proof. now rewrite cdot_sym, cdot_add, !(cdot_sym _ w). Qed.
Lemma cdot_scale a u v : cdot (cscale a u) v = a * cdot u v.
Proof. unfold cdot, cscale; rewrite <- E_scale; apply E_ext; intros; apply dot_scale. Qed.
Lemma cdot_scale_r a u v : cdot v (cscale a u) = a * cdot v u.
Proof. now rewrite cdot_sym, cdot_scale, cdot_sym. Qed.
Lemma cdot_all u w : cdot u (all w) = dot (mean u) w.
Proof. unfold cdot, all; now rewrite dot_mean. Qed.
Lemma cdot_all_l u w : cdot (all w) u = dot (mean u) w.
Proof. now rewrite cdot_sym, cdot_all. Qed.
Lemma cdot_pos u : 0 <= cdot u u.
Proof. apply E_nonneg; intros; apply dot_pos. Qed.
Lemma mean_all w : mean (all w) = w.
Proof. apply by_dot; intros v; rewrite dot_mean; unfold all; now rewrite E_const. Qed.
Lemma mean_cadd u v : mean (cadd u v) = (mean u + mean v)%V.
Proof. apply by_dot; intros w; dots; rewrite <- !cdot_all; apply cdot_add. Qed.
Lemma mean_cscale a u : mean (cscale a u) = (a *: mean u)%V.
Proof. apply by_dot; intros w; dots; rewrite <- !cdot_all; apply cdot_scale. Qed.
(* E |u|^2 = |E u|^2 + E |u - E u|^2 *)
Lemma mean_and_deviation u : cdot u u = norm2 (mean u) + cdot (cadd u (cscale (-1) (all (mean u)))) (cadd u (cscale (-1) (all (mean u)))).
Proof. rewrite ?cdot_add, ?cdot_add_r, ?cdot_scale, ?cdot_scale_r, ?cdot_all, ?cdot_all_l, ?mean_all, ?mean_cadd, ?mean_cscale, ?mean_all; dots; ring. Qed.
End Clients.

(* one client: what is said of clients, said of one function *)
Definition single (V : space) : clients V.
Proof.
  refine (@Clients V unit (fun a => a tt) (fun u => u tt) _ _ _ _ _); intros; trivial.
Defined.
