/* In search results, guides come before the generated pages of the reference. Exact names stay in front: first of all
   those of public functions and classes, and methods before pages that only mention the word. */
var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    if (!page.startsWith("reference/generated/")) return score + (page.startsWith("how-to/") ? 1 : 0);
    const exact = kind === "object" && score >= Scorer.objNameMatch + Scorer.objPrio[1];
    if (exact && /^outperform\.\w+$/.test(title)) return score + 10;
    return exact && /^outperform\.[A-Z]\w+\.\w+$/.test(title) ? score - 5 : score - 20;
  },
  // The rest are Sphinx's own scores.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
