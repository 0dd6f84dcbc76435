import Market

/// A column of a table as data: its heading, its texts by width, and what has room before what.
struct TableColumn<Line> {
    /// One width of a column.
    struct Form {
        /// Of all forms of a table, the one with the lowest rank has room first; a later form of a column replaces an earlier.
        var rank: Int
        var text: (Line) -> String
    }

    /// What is drawn beside the text, or in its place.
    enum Extra {
        case none
        /// The digits that have just changed stand out.
        case flash
        /// A chart of the text's width.
        case chart
    }

    /// The rank of the column by which a table is sorted: it is seen, or nobody knows why the table stands as it stands.
    static var sortedRank: Int { 9 }

    var heading: String
    /// What the table is sorted by where its heading has the arrow.
    var order: DisplayOrder?
    var isLeft = false
    /// Whether it is there although none of its lines says anything.
    var isKept = false
    var extra = Extra.none
    /// The least width of the widest form, so that the table does not jump with every digit.
    var calmWidth = 0
    /// The widest first.
    var forms: [Form]
    var style: (Line) -> CellStyle

    init(
        _ heading: String,
        order: DisplayOrder? = nil,
        isLeft: Bool = false,
        isKept: Bool = false,
        extra: Extra = .none,
        calmWidth: Int = 0,
        forms: [(rank: Int, text: (Line) -> String)],
        style: @escaping (Line) -> CellStyle
    ) {
        self.heading = heading
        self.order = order
        self.isLeft = isLeft
        self.isKept = isKept
        self.extra = extra
        self.calmWidth = calmWidth
        self.forms = forms.map { Form(rank: $0.rank, text: $0.text) }
        self.style = style
    }

    /// What a form is wide at least, if it shows anything.
    func minimumWidth(form: Int, hasHeadings: Bool) -> Int {
        form == 0 ? max(self.calmWidth, hasHeadings ? self.heading.count : 1) : 1
    }
}
