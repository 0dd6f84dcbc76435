/// A column of a table: its heading, its texts by width, and its priorities.
struct TableColumn<Line> {
    /// One width of a column.
    struct Form {
        /// The form with the lowest rank in the table gets space first; a later form of a column replaces an earlier
        /// one.
        var rank: Int
        var text: (Line) -> String
    }

    /// The drawing beside the text, or in its place.
    enum Extra {
        case none
        /// A highlight of the digits that have just changed.
        case flash
        /// A chart of the text's width.
        case chart
    }

    /// The rank of the sorted column, which must be visible to explain the order.
    static var sortedRank: Int { 10 }

    var heading: String
    /// The name by which the table of symbols is arranged; `nil` in other tables.
    var name: DisplayColumn?
    /// The sort order that this column shows with an arrow in its heading.
    var order: DisplayOrder?
    var isLeft = false
    /// Whether the column stays if all of its texts are empty.
    var isKept = false
    var extra = Extra.none
    /// The smallest width of the widest form, so that the table does not move with every digit.
    var calmWidth = 0
    /// Widest first.
    var forms: [Form]
    var style: (Line) -> CellStyle

    init(
        _ heading: String,
        name: DisplayColumn? = nil,
        order: DisplayOrder? = nil,
        isLeft: Bool = false,
        isKept: Bool = false,
        extra: Extra = .none,
        calmWidth: Int = 0,
        forms: [(rank: Int, text: (Line) -> String)],
        style: @escaping (Line) -> CellStyle
    ) {
        self.heading = heading
        self.name = name
        self.order = order
        self.isLeft = isLeft
        self.isKept = isKept
        self.extra = extra
        self.calmWidth = calmWidth
        self.forms = forms.map { Form(rank: $0.rank, text: $0.text) }
        self.style = style
    }

    /// Returns the smallest width of a form, if it shows anything.
    func minimumWidth(form: Int, hasHeadings: Bool) -> Int {
        form == 0 ? max(self.calmWidth, hasHeadings ? self.heading.count : 1) : 1
    }
}
