/// The state of the alerts that survives a restart: the rules that were added by key, and what each rule has done so
/// far.
package struct AlertState: Sendable, Equatable {
    /// The state of one rule for one symbol.
    package struct State: Sendable, Equatable {
        /// The rule as text.
        package var rule: String
        package var symbol: String
        package var isArmed: Bool
        package var side: Int
        package var count: UInt64
        /// ns since 1970.
        package var lastFired: Int64?

        package init(rule: String, symbol: String, isArmed: Bool, side: Int, count: UInt64, lastFired: Int64?) {
            self.rule = rule
            self.symbol = symbol
            self.isArmed = isArmed
            self.side = side
            self.count = count
            self.lastFired = lastFired
        }
    }

    /// The rules that do not come from the settings, as text.
    package var rules: [String]
    package var states: [State]

    package init(rules: [String] = [], states: [State] = []) {
        self.rules = rules
        self.states = states
    }
}

extension AlertState {
    private static let head = "tickertape alerts 1"
    /// The size limit of such a text, in bytes. No text that this program writes reaches it.
    package static let maximumBytes = 1 << 20

    /// The memory as lines of fields separated by tabs. Symbols and rules contain no control characters.
    package var text: String {
        var text = Self.head + "\n"
        for rule in self.rules.prefix(AlertRule.most) { text += "rule\t\(rule)\n" }
        for state in self.states.prefix(AlertEvaluator.maximumWatchers) {
            let fired = state.lastFired.map { "\($0)" } ?? "-"
            text +=
                "state\t\(state.rule)\t\(state.symbol)\t\(state.isArmed ? "armed" : "fired")\t\(state.side)\t"
                + "\(state.count)\t\(fired)\n"
        }
        return text + "end\n"
    }

    /// Reads such a text; `nil` if it is damaged, cut short or of another version.
    package init?(text: String) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == Self.head[...], lines.popLast()?.isEmpty == true, lines.popLast() == "end" else {
            return nil
        }
        self.init()
        for line in lines {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            switch (fields.first, fields.count) {
            case ("rule", 2):
                guard self.rules.count < AlertRule.most, let rule = try? AlertRule(String(fields[1])) else {
                    return nil
                }
                self.rules.append(rule.description)
            case ("state", 7):
                guard self.states.count < AlertEvaluator.maximumWatchers, let state = State(fields) else { return nil }
                self.states.append(state)
            default: return nil
            }
        }
    }
}

extension AlertState.State {
    fileprivate init?(_ fields: [Substring]) {
        guard let side = Int(fields[4]), (-1...1).contains(side), let count = UInt64(fields[5]),
            ["armed", "fired"].contains(fields[3]), fields[1].utf8.count <= AlertRule.maximumBytes * 2,
            (1...SymbolTable.maximumNameLength).contains(fields[2].utf8.count)
        else { return nil }
        var lastFired: Int64?
        if fields[6] != "-" {
            guard let time = Int64(fields[6]) else { return nil }
            lastFired = time
        }
        self.init(
            rule: String(fields[1]),
            symbol: String(fields[2]),
            isArmed: fields[3] == "armed",
            side: side,
            count: count,
            lastFired: lastFired
        )
    }
}
