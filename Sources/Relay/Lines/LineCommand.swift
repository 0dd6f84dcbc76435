import Market
import Wire

/// A command of a client, one line.
enum LineCommand: Equatable {
    /// Follows symbols; an empty list means all. Without a form, that of the client stays.
    case follow([String], StreamDelivery, LineForm?)
    /// Ends to follow symbols; an empty list means all.
    case stop([String])
    /// Goes to a room, whose name is not checked yet.
    case room(String, LineForm?)
    /// Takes a name in the room.
    case user(String)
    /// Sends a message to the room.
    case message(String)
    case help
    case quit
    /// Not a command, with the reason in one line.
    case faulty(String)

    /// The word for all symbols.
    private static let all = "*"

    /// The commands for people, a line each.
    static let manual = [
        "prices SYMBOL... [plain|json]   the newest price of each symbol, then its settled prices; * is every symbol",
        "trades SYMBOL... [plain|json]   every trade from now on",
        "stop SYMBOL...                  ends both; * is every symbol",
        "help                            shows these lines",
        "quit                            closes the connection",
    ]

    /// The commands of rooms, where there are any.
    static let roomManual = [
        "room NAME [plain|json]          goes to a room, and shows its users and its newest messages",
        "iam:NAME                        takes a name in the room, or in the room \(RoomName.usual)",
        "msg:TEXT                        sends a message to the room",
    ]

    static func parse(_ line: String) -> LineCommand {
        if let name = Self.text(in: line, behind: "iam:") { return .user(name) }
        if let text = Self.text(in: line, behind: "msg:") { return .message(text) }
        if let text = Self.text(in: line, behind: "room ") { return Self.choosing(room: text) }
        var words = line.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return .faulty("an empty line; send help") }
        let command = words.removeFirst()
        switch command {
        case "prices", "trades":
            let form = words.last.flatMap(Self.form)
            if form != nil { words.removeLast() }
            let delivery: StreamDelivery = command == "prices" ? .latest : .all
            return Self.naming(words, command) { .follow($0, delivery, form) }
        case "stop":
            return Self.naming(words, command) { .stop($0) }
        case "room": return Self.choosing(room: "")
        case "help": return .help
        case "quit": return .quit
        // The rest of it may be a secret, so it is not repeated.
        case _ where command.hasPrefix("token:"): return .faulty("the token belongs into the first line")
        default: return .faulty("unknown command \(SymbolErrors.excerpt(of: command)); send help")
        }
    }

    /// Returns the rest of a line without the blanks around it; `nil` if the line does not begin with the prefix.
    private static func text(in line: String, behind prefix: String) -> String? {
        let line = line.drop { $0 == " " }
        guard line.hasPrefix(prefix) else { return nil }
        var text = line.dropFirst(prefix.count).drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// Reads the name of a room, which may have blanks, and the form behind it.
    private static func choosing(room text: String) -> LineCommand {
        var words = text.split(separator: " ", omittingEmptySubsequences: false)
        let form = words.last.flatMap { Self.form(String($0)) }
        if form != nil { words.removeLast() }
        while words.last == "" { words.removeLast() }
        guard !words.isEmpty else { return .faulty("room needs a name, such as \(RoomName.usual)") }
        return .room(words.joined(separator: " "), form)
    }

    private static func form(_ word: String) -> LineForm? {
        switch word {
        case "plain": .plain
        case "json": .json
        default: nil
        }
    }

    private static func naming(
        _ symbols: [String],
        _ command: String,
        _ make: ([String]) -> LineCommand
    ) -> LineCommand {
        if symbols.isEmpty { return .faulty("\(command) needs a symbol, or * for all") }
        return make(symbols.contains(Self.all) ? [] : symbols)
    }
}
