/// The choice of what stands in a line of limited width: what matters most comes first, in the longest form that fits,
/// and the rest is left out.
package struct LineFitter {
    /// One wish: to show item `item` in its form `form`. A later wish for the same item replaces the earlier one.
    package typealias Wish = (item: Int, form: Int)

    /// The columns between two neighbours.
    package var gap: Int

    package init(gap: Int) {
        self.gap = gap
    }

    /// Grants wishes in their order as far as `columns` reach; gives the form of each item, `nil` for those left out.
    ///
    /// - Parameter widths: the width of each form of each item; a form of width 0 stands for nothing to show.
    package func choose(widths: [[Int]], wishes: [Wish], columns: Int) -> [Int?] {
        var chosen: [Int?] = Array(repeating: nil, count: widths.count)
        for wish in wishes where wish.item < widths.count && wish.form < widths[wish.item].count {
            guard widths[wish.item][wish.form] > 0 else { continue }
            var trial = chosen
            trial[wish.item] = wish.form
            if self.columns(of: trial, widths: widths) <= columns { chosen = trial }
        }
        return chosen
    }

    /// The columns that a choice takes.
    package func columns(of chosen: [Int?], widths: [[Int]]) -> Int {
        var total = 0
        var items = 0
        for (item, form) in chosen.enumerated() {
            guard let form else { continue }
            total += widths[item][form]
            items += 1
        }
        return total + max(0, items - 1) * self.gap
    }
}
