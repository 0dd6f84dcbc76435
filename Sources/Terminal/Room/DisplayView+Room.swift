import Market

/// The pane of a room, with the newest message at its bottom.
extension DisplayView {
    /// Returns the messages and the presence of a room.
    ///
    /// - Parameters:
    ///   - back: the number of newest entries that are scrolled away.
    ///   - height: the largest number of lines, including the heading.
    func room(_ name: String, back: Int, height: Int) -> PaneContents {
        guard let room = self.state.room, room.name == name else {
            return PaneContents(self.title(of: DisplayRoom(name: name)), room: height, [Self.connecting])
        }
        let below = self.roomState(room)
        let most = max(height - 1 - below.count, 0)
        var lines: [PaneContents.Line] = []
        // The number of entries from the oldest that are not shown whole. The oldest one cannot be scrolled away.
        var hidden = max(room.entries.count - back, min(room.entries.count, 1))
        while hidden > 0, lines.count < most {
            let entry = self.lines(of: room.entries[hidden - 1], most: max(most, 1))
            guard lines.count + entry.count <= most else {
                lines.insert(contentsOf: entry.suffix(most - lines.count), at: 0)
                break
            }
            lines.insert(contentsOf: entry, at: 0)
            hidden -= 1
        }
        var contents = PaneContents(self.title(of: room), room: height, lines + below)
        contents.rest = hidden
        return contents
    }

    private static let connecting: PaneContents.Line = [("connecting to the room", .dimmed)]

    /// Returns the lines below the messages: why there is no connection, or the relay's objection.
    private func roomState(_ room: DisplayRoom) -> [PaneContents.Line] {
        switch room.link {
        case .connecting: [Self.connecting]
        case .lost(let reason):
            self.wrapped("", "no room, trying again: \(reason)", CellStyle(.alarm), most: 4)
                + (room.problem.map { self.wrapped("", $0, CellStyle(.warning), most: 2) } ?? [])
        case .open:
            if let problem = room.problem {
                self.wrapped("", problem, CellStyle(.warning), most: 3)
            } else {
                room.entries.isEmpty ? [[("no message yet", .dimmed)]] : []
            }
        }
    }

    /// Returns the heading: the symbol, the number of users, and as many of their names as fit.
    private func title(of room: DisplayRoom) -> String {
        // Some columns remain for the number of older entries.
        let columns = max(self.grid.size.columns - 14, 12)
        let count = room.link == .open ? ", \(Self.count(room.users.count, "user"))" : ""
        let forms = [
            "ROOM \(room.name) (\(self.zone))\(count)",
            "ROOM \(SymbolName.withoutExchange(room.name)) (\(self.zone))\(count)",
            "ROOM\(count)",
        ]
        let title =
            forms.first { ScreenText.width(of: $0, limit: columns + 1, glyphs: self.glyphs) <= columns } ?? "ROOM"
        guard !room.users.isEmpty, title != "ROOM" else { return title }
        let names = room.users.prefix(columns / 3).map(\.name).joined(separator: ", ")
        return ScreenText.clean("\(title): \(names)", columns: columns, glyphs: self.glyphs)
    }

    private func lines(of entry: DisplayRoom.Entry, most: Int) -> [PaneContents.Line] {
        let isWide = self.grid.size.columns >= 60
        let date = self.clock.date(entry.time)
        let day = isWide && date != self.clock.date(self.now.wall) ? "\(date) " : ""
        let time = "\(day)\(self.clock.minute(entry.time)) "
        guard let user = entry.user else { return self.wrapped(time, entry.text, .dimmed, most: 2) }
        let sender = "<\(user)> "
        var lines = self.wrapped(time, sender + entry.text, .plain, most: most)
        // The sender stands out, unless the line breaks within the name.
        let shown = ScreenText.clean(sender, columns: self.grid.size.columns, glyphs: self.glyphs)
        if let first = lines.first?.last, first.text.hasPrefix(shown) {
            let text = String(first.text.dropFirst(shown.count))
            lines[0] = lines[0].dropLast() + [(shown, CellStyle(.accent, .bold)), (text, first.style)]
        }
        return lines
    }
}
