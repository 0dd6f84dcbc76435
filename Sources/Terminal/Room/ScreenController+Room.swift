import Market
import Wire

// The room of a symbol.
extension ScreenController {
    /// Opens the room of the selected symbol, or closes the open one.
    mutating func toggleRoom(_ state: DisplayState, _ now: Moment) -> [ScreenCommand] {
        if self.choice.room != nil {
            self.choice.pane = nil
            return []
        }
        if let obstacle = self.remote.rooms.obstacle { return self.say(obstacle, now) }
        guard let symbol = self.selected(self.symbols(state, now)) else {
            return self.say("there is no symbol whose room could open", now)
        }
        self.choice.pane = .list(.room(symbol), at: 0)
        guard let key = self.bindings[.open].first else { return [] }
        return self.say("\(key.label(glyphs: self.glyphs)) writes to the room of \(symbol)", now)
    }

    /// Returns the commands that make the program enter the room of the open pane, and leave the one before.
    mutating func roomCommands(before: String?) -> [ScreenCommand] {
        let room = self.choice.room
        guard room != before else { return [] }
        self.room = nil
        return room.map { [.enterRoom($0)] } ?? [.leaveRoom]
    }

    /// Opens the line for a message, or first for the name.
    mutating func writeToRoom(_ now: Moment) -> [ScreenCommand] {
        guard let room, room.link == .open else { return self.say("the room is not connected", now) }
        return room.own == nil
            ? self.ask(.userName, prefilled: self.userName, now: now) : self.ask(.message, prefilled: "", now: now)
    }

    /// Submits the typed line. What is typed before the answer is the beginning of the next message.
    mutating func submit(_ text: String, _ kind: ScreenQuestion.Kind) -> [ScreenCommand] {
        // A repeating Enter key submits once.
        guard !text.isEmpty, self.question?.sent == nil else { return [] }
        self.submissions += 1
        self.question?.sent = (text, self.submissions)
        self.replaceText(with: "")
        guard kind == .message else {
            self.change { $0.message = "asking for the name \(text)" }
            return [.submit(.name(text), number: self.submissions)]
        }
        return [.submit(.message(text), number: self.submissions)]
    }

    /// Takes the open room as it is now. A refused line returns, before what is typed meanwhile.
    mutating func roomChanged(_ room: DisplayRoom, now: Moment) -> [ScreenCommand] {
        // The state of a room that was left may arrive late.
        guard room.name == self.choice.room else { return [] }
        if case .list(let list, at: let place) = self.choice.pane, place > 0 {
            // A person who reads back keeps the place among the messages.
            let new = max(room.added - (self.room?.added ?? room.added), 0)
            self.choice.pane = .list(list, at: min(place + new, max(room.entries.count - 1, 0)))
        }
        self.room = room
        if let own = room.own { self.userName = own.name }
        guard let question, let sent = question.sent, let outcome = room.outcome, outcome.number == sent.number
        else { return [] }
        self.question?.sent = nil
        let typed = self.typedText
        if question.kind == .userName, room.own != nil { return self.ask(.message, prefilled: typed, now: now) }
        guard question.kind == .userName || outcome.isRefused else { return [] }
        self.replaceText(with: sent.text)
        return self.inserted(typed.isEmpty ? "" : " \(typed)", now: now)
    }
}

extension DisplayChoice {
    /// The room whose pane is open.
    var room: String? {
        switch self.pane {
        case .list(.room(let name), _): name
        case .prompt(let prompt): prompt.room
        case .list, nil: nil
        }
    }
}
