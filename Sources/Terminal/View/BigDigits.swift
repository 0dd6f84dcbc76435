/// A number drawn with block characters, three or five lines high.
struct BigDigits {
    enum Size {
        /// Half blocks: three columns and three lines per digit.
        case small
        /// Full blocks, two columns per point: six columns and five lines per digit.
        case large
    }

    /// The lines from the top, all with the same width.
    var lines: [String]
    /// The columns of each character of the number.
    var places: [Range<Int>]
    var width: Int { self.places.last?.upperBound ?? 0 }

    /// Five rows of points, and a sixth for the comma's tail.
    private static let shapes: [Character: [String]] = [
        "0": ["###", "# #", "# #", "# #", "###", "   "],
        "1": [" # ", "## ", " # ", " # ", "###", "   "],
        "2": ["###", "  #", "###", "#  ", "###", "   "],
        "3": ["###", "  #", "###", "  #", "###", "   "],
        "4": ["# #", "# #", "###", "  #", "  #", "   "],
        "5": ["###", "#  ", "###", "  #", "###", "   "],
        "6": ["###", "#  ", "###", "# #", "###", "   "],
        "7": ["###", "  #", "  #", "  #", "  #", "   "],
        "8": ["###", "# #", "###", "# #", "###", "   "],
        "9": ["###", "# #", "###", "  #", "###", "   "],
        ".": [" ", " ", " ", " ", "#", " "],
        ",": [" ", " ", " ", " ", "#", "#"],
        "'": ["#", "#", " ", " ", " ", " "],
        " ": [" ", " ", " ", " ", " ", " "],
        "-": ["  ", "  ", "##", "  ", "  ", "  "],
    ]

    /// - Returns: `nil` for a text that is not a plain number.
    init?(_ text: String, size: Size) {
        self.lines = Array(repeating: "", count: size == .small ? 3 : 5)
        self.places = []
        var column = 0
        for character in text {
            guard let shape = Self.shapes[character] else { return nil }
            if column > 0 {
                let space = size == .small ? " " : "  "
                for line in self.lines.indices { self.lines[line] += space }
                column += space.count
            }
            let pieces = size == .small ? Self.small(shape) : Self.large(shape)
            for line in self.lines.indices { self.lines[line] += pieces[line] }
            let width = pieces[0].count
            self.places.append(column..<(column + width))
            column += width
        }
        guard !self.places.isEmpty else { return nil }
    }

    private static func small(_ shape: [String]) -> [String] {
        (0..<3).map { line in
            String(
                zip(shape[2 * line], shape[2 * line + 1]).map { pair -> Character in
                    switch (pair.0 == "#", pair.1 == "#") {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                }
            )
        }
    }

    private static func large(_ shape: [String]) -> [String] {
        (0..<5).map { line in
            // The comma's tail joins its head, since this size has no sixth line.
            shape[line].map { $0 == "#" ? "██" : "  " }.joined()
        }
    }
}
