import Terminal

extension Settings {
    /// Refuses output settings that contradict each other.
    ///
    /// A flag that contradicts the config file or a variable overrides it. Two flags that contradict each other are a
    /// mistake, and so is a flag that has no effect.
    func refuseDisplayContradictions() throws(OperatorError) {
        if self.display.isOnce, self.display.isQuiet {
            throw self.contradiction(
                "display.once",
                "display.quiet",
                "cannot be combined with",
                hint: "leave one of them out"
            )
        }
        let isScreen = self.isFlag(.format) && self.display.format == .tui
        if isScreen, self.display.isOnce {
            let hint = "leave --format out, or ask for plain, json, csv, oneline, waybar or i3blocks"
            throw self.contradiction("display.once", "display.format", "cannot be combined with", hint: hint)
        }
        if self.isFlag(.isQuiet), self.display.isQuiet, self.isFlag(.format) {
            throw self.contradiction(
                "display.format",
                "display.quiet",
                "cannot be combined with",
                hint: "leave one of them out"
            )
        }
        if isScreen, self.isFlag(.fields) {
            let hint = "fields are for lines: ask for --format plain, json or csv"
            throw self.contradiction("display.fields", "display.format", "cannot be combined with", hint: hint)
        }
        let format = self.display.format
        if let format, format.isOneLine { try self.refuseFields(of: format) }
        if self.isFlag(.rotation), self.display.rotation != nil, format?.isOneLine != true {
            let hint = "ask for --format oneline, waybar or i3blocks"
            throw self.contradiction("display.rotate", "display.format", "has no effect with", hint: hint)
        }
        if self.isFlag(.onceWithin), !self.display.isOnce {
            throw self.contradiction("display.once-within", "display.once", "has no effect with", hint: "add --once")
        }
    }

    /// Refuses fields on the command line for an output without fields, such as the screen that a terminal gets by
    /// default.
    func refuseFields(of format: OutputFormat?) throws(OperatorError) {
        guard self.isFlag(.fields), let format else { return }
        switch format {
        case .plain, .json, .csv: return
        case .tui:
            throw self.contradiction(
                "display.fields",
                "display.format",
                "has no effect on a screen, with",
                hint: "ask for --format plain, json or csv"
            )
        case .oneline, .waybar, .i3blocks:
            throw self.contradiction(
                "display.fields",
                "display.format",
                "cannot be combined with",
                hint: "that line has fixed fields: ask for --format plain, json or csv"
            )
        }
    }

    /// Refuses number formatting that uses the same mark for grouping and for decimals.
    func refuseAmbiguousNumbers() throws(OperatorError) {
        let numbers = self.screen.look.numbers
        guard numbers.isAmbiguous else { return }
        throw OperatorError(
            "display.grouping and display.decimal are both a \(numbers.decimal.rawValue); choose another one",
            status: .configuration
        )
    }

    private func isFlag(_ setting: Setting) -> Bool {
        if case .flag = self.origin(of: setting) { true } else { false }
    }
}
