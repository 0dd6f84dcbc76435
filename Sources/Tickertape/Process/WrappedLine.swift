import Glibc

/// A line for people, put into several lines at its blanks where a terminal is narrower.
enum WrappedLine {
    /// The columns and rows of the terminal of standard output; `nil` if it is no terminal, or its size is unknown.
    static var window: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Returns the lines. A word that is longer than the terminal is wide, such as a path, stays whole.
    ///
    /// - Parameters:
    ///   - columns: the terminal's; `nil` for one line.
    ///   - indent: the blanks before each further line; fewer in a narrow terminal.
    static func lines(_ text: String, columns: Int?, indent: Int) -> [String] {
        guard let columns, text.count > columns else { return [text] }
        let margin = String(repeating: " ", count: columns >= 3 * indent ? indent : 2)
        var lines: [String] = []
        var rest = Substring(text)
        var head = ""
        while head.count + rest.count > columns {
            // The last blank that leaves a line within the width, or the first one behind a long word.
            let limit = rest.index(
                rest.startIndex,
                offsetBy: max(0, columns - head.count) + 1,
                limitedBy: rest.endIndex
            )
            let start = rest.firstIndex { $0 != " " } ?? rest.endIndex
            let within = rest[..<(limit ?? rest.endIndex)].lastIndex(of: " ").flatMap { $0 > start ? $0 : nil }
            guard let end = within ?? rest[start...].firstIndex(of: " ") else { break }
            lines.append(head + rest[..<end])
            rest = rest[end...].drop { $0 == " " }
            head = margin
        }
        return lines + [head + rest]
    }
}
