/// The contents of a pane: its heading and its lines.
struct PaneContents {
    /// The pieces of text in one line, each with its style.
    typealias Line = [(text: String, style: CellStyle)]

    var title: String
    var lines: [Line] = []
    /// The number of entries after the last complete one; `nil` for lines that do not fit.
    var rest: Int?
    /// The largest height in lines, including the heading.
    var room: Int

    init(_ title: String, room: Int, _ lines: [Line] = []) {
        self.title = title
        self.room = room
        self.lines = lines
    }

    /// Takes as many entries as fit, each of one or more lines.
    ///
    /// - Parameters:
    ///   - first: the index of the first entry.
    ///   - none: the text for an empty list.
    init(_ title: String, room: Int, entries count: Int, from first: Int, none: String, _ entry: (Int) -> [Line]) {
        self.init(title, room: room, count == 0 ? [[(none, .dimmed)]] : [])
        guard count > 0 else { return }
        var whole = max(first, 0)
        var next = whole
        while next < count, self.lines.count < room - 1 {
            self.lines += entry(next)
            next += 1
            if self.lines.count < room { whole = next }
        }
        self.rest = count - whole
    }
}
