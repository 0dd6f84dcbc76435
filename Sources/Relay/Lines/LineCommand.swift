import Market
import Wire

/// A command of a client, one line.
///
/// The commands of rooms (`iam:NAME`, `msg:TEXT`) have their place here.
enum LineCommand: Equatable {
    /// Follows symbols; an empty list means all. Without a form, that of the client stays.
    case follow([String], StreamDelivery, LineForm?)
    /// Ends to follow symbols; an empty list means all.
    case stop([String])
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

    static func parse(_ line: String) -> LineCommand {
        var words = line.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return .faulty("an empty line; send help") }
        let command = words.removeFirst()
        switch command {
        case "prices", "trades":
            let form: LineForm? =
                switch words.last {
                case "plain": .plain
                case "json": .json
                default: nil
                }
            if form != nil { words.removeLast() }
            let delivery: StreamDelivery = command == "prices" ? .latest : .all
            return Self.naming(words, command) { .follow($0, delivery, form) }
        case "stop":
            return Self.naming(words, command) { .stop($0) }
        case "help": return .help
        case "quit": return .quit
        // The rest of it may be a secret, so it is not repeated.
        case _ where command.hasPrefix("token:"): return .faulty("the token belongs into the first line")
        default: return .faulty("unknown command \(SymbolErrors.excerpt(of: command)); send help")
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
