"""The texts that theorems of the literature are taken from."""

from __future__ import annotations

PAPER = "literature"

#: author and year, as claims name them, and the text
SOURCES = {
    "Abbaszadehpeivasteh, de Klerk and Zamani 2022": "H. Abbaszadehpeivasteh, E. de Klerk, M. Zamani: The exact worst-case convergence rate of the "
    "gradient method with fixed step lengths for L-smooth functions. Optimization Letters 16, 2022",
    "Abbaszadehpeivasteh, de Klerk and Zamani 2023": "H. Abbaszadehpeivasteh, E. de Klerk, M. Zamani: Conditions for linear convergence of the "
    "gradient method for non-convex optimization. Optimization Letters 17, 2023",
    "Acar et al. 2021": "D. A. E. Acar, Y. Zhao, R. M. Navarro, M. Mattina, P. N. Whatmough, V. Saligrama: Federated learning based on dynamic "
    "regularization. ICLR 2021",
    "Baillon and Haddad 1977": "J.-B. Baillon, G. Haddad: Quelques propriétés des opérateurs angle-bornés et n-cycliquement monotones. Israel "
    "Journal of Mathematics 26, 1977",
    "Beck and Teboulle 2009": "A. Beck, M. Teboulle: A fast iterative shrinkage-thresholding algorithm for linear inverse problems. SIAM Journal on "
    "Imaging Sciences 2, 2009",
    "Cochran 1977": "W. G. Cochran: Sampling Techniques, third edition. Wiley, 1977",
    "Condat and Richtarik 2023": "L. Condat, P. Richtárik: RandProx: primal-dual optimization algorithms with randomized proximal updates. ICLR 2023",
    "Drori and Teboulle 2014": "Y. Drori, M. Teboulle: Performance of first-order methods for smooth convex minimization: a novel approach. "
    "Mathematical Programming 145, 2014",
    "Chen and Teboulle 1993": "G. Chen, M. Teboulle: Convergence analysis of a proximal-like minimization algorithm using Bregman functions. SIAM "
    "Journal on Optimization 3, 1993",
    "Defazio, Bach and Lacoste-Julien 2014": "A. Defazio, F. Bach, S. Lacoste-Julien: SAGA: a fast incremental gradient method with support for "
    "non-strongly convex composite objectives. NIPS 2014",
    "Giselsson and Boyd 2017": "P. Giselsson, S. Boyd: Linear convergence and metric selection for Douglas-Rachford splitting and ADMM. IEEE "
    "Transactions on Automatic Control 62, 2017",
    "Gorbunov, Hanzely and Richtarik 2020": "E. Gorbunov, F. Hanzely, P. Richtárik: A unified theory of SGD: variance reduction, sampling, "
    "quantization and coordinate descent. AISTATS 2020",
    "Gu and Yang 2020": "G. Gu, J. Yang: Tight sublinear convergence rate of the proximal point algorithm for maximal monotone inclusion problems. "
    "SIAM Journal on Optimization 30, 2020",
    "Gu et al. 2021": "X. Gu, K. Huang, J. Zhang, L. Huang: Fast federated learning in the presence of arbitrary device unavailability. NeurIPS 2021",
    "Güler 1991": "O. Güler: On the convergence of the proximal point algorithm for convex minimization. SIAM Journal on Control and Optimization "
    "29, 1991",
    "Jhunjhunwala et al. 2022": "D. Jhunjhunwala, P. Sharma, A. Nagarkatti, G. Joshi: FedVARP: tackling the variance due to partial client "
    "participation in federated learning. UAI 2022",
    "Karimi, Nutini and Schmidt 2016": "H. Karimi, J. Nutini, M. Schmidt: Linear convergence of gradient and proximal-gradient methods under the "
    "Polyak-Łojasiewicz condition. ECML PKDD 2016",
    "Karimireddy et al. 2020": "S. P. Karimireddy, S. Kale, M. Mohri, S. J. Reddi, S. U. Stich, A. T. Suresh: SCAFFOLD: stochastic controlled "
    "averaging for federated learning. ICML 2020",
    "Khaled, Mishchenko and Richtarik 2020": "A. Khaled, K. Mishchenko, P. Richtárik: Tighter theory for local SGD on identical and heterogeneous "
    "data. AISTATS 2020",
    "Korpelevich 1976": "G. M. Korpelevich: The extragradient method for finding saddle points and other problems. Ekonomika i Matematicheskie "
    "Metody 12, 1976",
    "Lieder 2021": "F. Lieder: On the convergence rate of the Halpern-iteration. Optimization Letters 15, 2021",
    "Li et al. 2020": "T. Li, A. K. Sahu, M. Zaheer, M. Sanjabi, A. Talwalkar, V. Smith: Federated optimization in heterogeneous networks. MLSys "
    "2020",
    "Liang et al. 2019": "X. Liang, S. Shen, J. Liu, Z. Pan, E. Chen, Y. Cheng: Variance reduced local SGD with lower communication complexity. "
    "arXiv:1912.12844",
    "Lions and Mercier 1979": "P.-L. Lions, B. Mercier: Splitting algorithms for the sum of two nonlinear operators. SIAM Journal on Numerical "
    "Analysis 16, 1979",
    "Mann 1953": "W. R. Mann: Mean value methods in iteration. Proceedings of the American Mathematical Society 4, 1953",
    "McMahan et al. 2017": "H. B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Agüera y Arcas: Communication-efficient learning of deep networks "
    "from decentralized data. AISTATS 2017",
    "Mishchenko et al. 2019": "K. Mishchenko, E. Gorbunov, M. Takáč, P. Richtárik: Distributed learning with compressed gradient differences. "
    "arXiv:1901.09269",
    "Mishchenko et al. 2022": "K. Mishchenko, G. Malinovsky, S. Stich, P. Richtárik: ProxSkip: yes! local gradient steps provably lead to "
    "communication acceleration! finally! ICML 2022",
    "Mitra et al. 2021": "A. Mitra, R. Jaafar, G. J. Pappas, H. Hassani: Linear convergence in federated learning: tackling client heterogeneity and "
    "sparse gradients. NeurIPS 2021",
    "Moreau 1965": "J.-J. Moreau: Proximité et dualité dans un espace hilbertien. Bulletin de la Société Mathématique de France 93, 1965",
    "Nedic and Ozdaglar 2009": "A. Nedić, A. Ozdaglar: Distributed subgradient methods for multi-agent optimization. IEEE Transactions on Automatic "
    "Control 54, 2009",
    "Nesterov 1983": "Y. Nesterov: A method of solving a convex programming problem with convergence rate O(1/k^2). Soviet Mathematics Doklady 27, "
    "1983",
    "Nesterov 2004": "Y. Nesterov: Introductory Lectures on Convex Optimization: a Basic Course. Kluwer, 2004",
    "Nguyen et al. 2022": "J. Nguyen, K. Malik, H. Zhan, A. Yousefpour, M. Rabbat, M. Malek, D. Huba: Federated learning with buffered asynchronous "
    "aggregation. AISTATS 2022",
    "Pathak and Wainwright 2020": "R. Pathak, M. J. Wainwright: FedSplit: an algorithmic framework for fast federated optimization. NeurIPS 2020",
    "Polyak 1963": "B. T. Polyak: Gradient methods for minimizing functionals. USSR Computational Mathematics and Mathematical Physics 3, 1963",
    "Polyak 1987": "B. T. Polyak: Introduction to Optimization. Optimization Software, 1987",
    "Richtarik, Sokolov and Fatkhullin 2021": "P. Richtárik, I. Sokolov, I. Fatkhullin: EF21: a new, simpler, theoretically better, and practically "
    "faster error feedback. NeurIPS 2021",
    "Rockafellar 1976": "R. T. Rockafellar: Monotone operators and the proximal point algorithm. SIAM Journal on Control and Optimization 14, 1976",
    "Taylor, Hendrickx and Glineur 2017": "A. B. Taylor, J. M. Hendrickx, F. Glineur: Exact worst-case performance of first-order methods for "
    "composite convex optimization. SIAM Journal on Optimization 27, 2017",
    "Taylor, Hendrickx and Glineur 2018": "A. B. Taylor, J. M. Hendrickx, F. Glineur: Exact worst-case convergence rates of the proximal gradient "
    "method for composite convex minimization. Journal of Optimization Theory and Applications 178, 2018",
    "Teboulle and Vaisman 2023": "M. Teboulle, Y. Vaisman: An elementary approach to tight worst case complexity analysis of gradient based methods. "
    "Mathematical Programming 201, 2023",
    "Tran-Dinh et al. 2021": "Q. Tran-Dinh, N. H. Pham, D. T. Phan, L. M. Nguyen: FedDR: randomized Douglas-Rachford splitting algorithms for "
    "nonconvex federated composite optimization. NeurIPS 2021",
    "Van Scoy, Freeman and Lynch 2018": "B. Van Scoy, R. A. Freeman, K. M. Lynch: The fastest known globally convergent first-order method for "
    "minimizing strongly convex functions. IEEE Control Systems Letters 2, 2018",
    "Wang et al. 2020": "J. Wang, Q. Liu, H. Liang, G. Joshi, H. V. Poor: Tackling the objective inconsistency problem in heterogeneous federated "
    "optimization. NeurIPS 2020",
    "Yuan, Ling and Yin 2016": "K. Yuan, Q. Ling, W. Yin: On the convergence of decentralized gradient descent. SIAM Journal on Optimization 26, "
    "2016",
}
