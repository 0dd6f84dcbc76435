/// The choice of what stands in a line of limited width: what matters most comes first, in the longest form that fits,
/// and the rest is left out.
struct LineFitter {
    /// One wish: to show item `item` in its form `form`. A later wish for the same item replaces the earlier one.
    typealias Candidate = (item: Int, form: Int)

    /// The columns between two neighbours.
    var gap: Int

    init(gap: Int) {
        self.gap = gap
    }

    /// Grants wishes in their order as far as `columns` reach; gives the form of each item, `nil` for those left out.
    ///
    /// - Parameter widths: the width of each form of each item; a form of width 0 stands for nothing to show.
    func choose(widths: [[Int]], candidates: [Candidate], columns: Int) -> [Int?] {
        let candidates = candidates.filter { $0.item < widths.count && $0.form < widths[$0.item].count }
        return self.choose(items: widths.count, candidates: candidates, columns: columns, least: { _ in 1 }) {
            widths[$0.item][$0.form]
        }.map { $0?.form }
    }

    /// The same where a width is dear to find: only those are asked for that may fit.
    ///
    /// - Parameters:
    ///   - least: a width that the form has at least, if it shows anything.
    ///   - width: the form's own; 0 stands for nothing to show.
    func choose(
        items: Int,
        candidates: [Candidate],
        columns: Int,
        least: (Candidate) -> Int,
        width: (Candidate) -> Int
    ) -> [(form: Int, width: Int)?] {
        var chosen: [(form: Int, width: Int)?] = Array(repeating: nil, count: items)
        // Of all that is chosen, with a gap behind each.
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
