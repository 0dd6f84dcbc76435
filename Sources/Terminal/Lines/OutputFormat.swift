/// The format of the prices on standard output.
package enum OutputFormat: String, Sendable, Equatable, CaseIterable {
    /// The live screen.
    case tui
    /// One line for each price, for people.
    case plain
    /// One JSON object a line, for programs.
    case json
    /// A header and one record for each price (RFC 4180), for spreadsheets and programs.
    case csv
    /// All symbols in one line, a new one whenever its text changes, for status bars.
    case oneline
    /// The same as one JSON object a line, as Waybar's custom module expects.
    case waybar
    /// The same as one JSON object a line, as a block of i3blocks expects.
    case i3blocks

    /// Whether one line shows all symbols, for a status bar.
    package var isOneLine: Bool {
        switch self {
        case .oneline, .waybar, .i3blocks: true
        case .tui, .plain, .json, .csv: false
        }
    }

    /// Returns the format in force: the requested one, if the output supports it.
    ///
    /// A screen needs a terminal that can draw; without one (a pipe, `TERM=dumb` or no `TERM`) plain lines replace it.
    package static func inForce(asked: OutputFormat?, outputIsTerminal: Bool, term: String?) -> OutputFormat {
        switch asked ?? .tui {
        case .plain, .json, .csv, .oneline, .waybar, .i3blocks:
            return asked ?? .plain
        case .tui:
            let term = term ?? ""
            return outputIsTerminal && !term.isEmpty && term != "dumb" ? .tui : .plain
        }
    }
}
