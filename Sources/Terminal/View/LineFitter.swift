/// The selection of texts for a line of limited width, in the order of their priority and in the longest forms that
/// fit.
struct LineFitter {
    /// A request to show item `item` in its form `form`. A later candidate for the same item replaces the earlier one.
    typealias Candidate = (item: Int, form: Int)

    /// The columns between two neighbours.
    var gap: Int

    init(gap: Int) {
        self.gap = gap
    }

    /// Accepts candidates in order while they fit into `columns`; returns the form of each item, `nil` for omitted
    /// ones.
    ///
    /// - Parameter widths: the width of each form of each item; a form of width 0 shows nothing.
    func choose(widths: [[Int]], candidates: [Candidate], columns: Int) -> [Int?] {
        let candidates = candidates.filter { $0.item < widths.count && $0.form < widths[$0.item].count }
        return self.choose(items: widths.count, candidates: candidates, columns: columns, least: { _ in 1 }) {
            widths[$0.item][$0.form]
        }.map { $0?.form }
    }

    /// Does the same when widths are expensive to compute, and computes only those of forms that may fit.
    ///
    /// - Parameters:
    ///   - least: a lower bound of a form's width, if it shows anything.
    ///   - width: the form's width; 0 shows nothing.
    func choose(
        items: Int,
        candidates: [Candidate],
        columns: Int,
        least: (Candidate) -> Int,
        width: (Candidate) -> Int
    ) -> [(form: Int, width: Int)?] {
        var chosen: [(form: Int, width: Int)?] = Array(repeating: nil, count: items)
        // The total of all chosen forms, each with a gap after it.
        var taken = 0
        for candidate in candidates {
            let others = taken - (chosen[candidate.item].map { $0.width + self.gap } ?? 0)
            guard others + least(candidate) <= columns else { continue }
            let width = width(candidate)
            guard width > 0, others + width <= columns else { continue }
            chosen[candidate.item] = (candidate.form, width)
            taken = others + width + self.gap
        }
        return chosen
    }
}
