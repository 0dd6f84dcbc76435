import Market

/// What a pane shows: its heading and its lines.
struct PaneContents {
    /// Pieces of text of one line, each with its look.
    typealias Line = [(text: String, style: CellStyle)]

    var title: String
    var lines: [Line] = []
    /// How many entries there are behind the last that is whole; `nil` for the lines that have no room.
    var rest: Int?
    /// The most lines of the screen that it takes, its heading among them.
    var room: Int

    init(_ title: String, room: Int, _ lines: [Line] = []) {
        self.title = title
        self.room = room
        self.lines = lines
    }

    /// Takes as many entries as there is room for, each of some lines.
    ///
    /// - Parameters:
    ///   - first: the entries are taken from this one on.
    ///   - none: what stands there where there is no entry.
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
