"""What to cite for what a run used, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable

BIBTEX = {
    "vaswani2017": """@inproceedings{vaswani2017,
  title = {Attention Is All You Need},
  author = {Vaswani, Ashish and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones,
            Llion and Gomez, Aidan N. and Kaiser, {\\L}ukasz and Polosukhin, Illia},
  booktitle = {Advances in Neural Information Processing Systems 30},
  pages = {5998--6008},
  year = {2017}
}""",
    "voita2019": """@inproceedings{voita2019,
  title = {Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest
           Can Be Pruned},
  author = {Voita, Elena and Talbot, David and Moiseev, Fedor and Sennrich, Rico and Titov, Ivan},
  booktitle = {Proceedings of the 57th Annual Meeting of the ACL},
  pages = {5797--5808},
  year = {2019},
  doi = {10.18653/v1/P19-1580}
}""",
    "michel2019": """@inproceedings{michel2019,
  title = {Are Sixteen Heads Really Better than One?},
  author = {Michel, Paul and Levy, Omer and Neubig, Graham},
  booktitle = {Advances in Neural Information Processing Systems 32},
  pages = {14014--14024},
  year = {2019}
}""",
    "kobayashi2020": """@inproceedings{kobayashi2020,
  title = {Attention is Not Only a Weight: Analyzing Transformers with Vector Norms},
  author = {Kobayashi, Goro and Kuribayashi, Tatsuki and Yokoi, Sho and Inui, Kentaro},
  booktitle = {Proceedings of EMNLP 2020},
  pages = {7057--7075},
  year = {2020},
  doi = {10.18653/v1/2020.emnlp-main.574}
}""",
    "kwon2022": """@inproceedings{kwon2022,
  title = {A Fast Post-Training Pruning Framework for Transformers},
  author = {Kwon, Woosuk and Kim, Sehoon and Mahoney, Michael W. and Hassoun, Joseph and Keutzer,
            Kurt and Gholami, Amir},
  booktitle = {Advances in Neural Information Processing Systems 35},
  year = {2022}
}""",
    "papineni2002": """@inproceedings{papineni2002,
  title = {{BLEU}: a Method for Automatic Evaluation of Machine Translation},
  author = {Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing},
  booktitle = {Proceedings of the 40th Annual Meeting of the ACL},
  pages = {311--318},
  year = {2002},
  doi = {10.3115/1073083.1073135}
}""",
    "post2018": """@inproceedings{post2018,
  title = {A Call for Clarity in Reporting {BLEU} Scores},
  author = {Post, Matt},
  booktitle = {Proceedings of the Third Conference on Machine Translation: Research Papers},
  pages = {186--191},
  year = {2018},
  doi = {10.18653/v1/W18-6319}
}""",
    "koehn2004": """@inproceedings{koehn2004,
  title = {Statistical Significance Tests for Machine Translation Evaluation},
  author = {Koehn, Philipp},
  booktitle = {Proceedings of EMNLP 2004},
  pages = {388--395},
  year = {2004}
}""",
    "popovic2015": """@inproceedings{popovic2015,
  title = {{chrF}: character n-gram {F}-score for automatic {MT} evaluation},
  author = {Popovi{\\'c}, Maja},
  booktitle = {Proceedings of the Tenth Workshop on Statistical Machine Translation},
  pages = {392--395},
  year = {2015},
  doi = {10.18653/v1/W15-3049}
}""",
}

OF_METHOD = {
    "training": ("vaswani2017",),
    "bleu": ("papineni2002", "post2018", "koehn2004"),
    "chrf": ("popovic2015",),
    "confidence": ("voita2019",),
    "gradient": ("michel2019",),
    "attention_norm": ("kobayashi2020",),
    "fisher": ("kwon2022",),
    "leave_one_out": ("michel2019",),
    "pruning": ("voita2019", "michel2019"),
}


def bibtex(methods: Iterable[str]) -> str:
    """Return the entries for some methods, each once, in the order of `BIBTEX`.

    Args:
        methods: keys of `OF_METHOD`; others have nothing to cite here.
    """
    wanted = {key for method in methods for key in OF_METHOD.get(method, ())}
    return "\n\n".join(entry for key, entry in BIBTEX.items() if key in wanted)
