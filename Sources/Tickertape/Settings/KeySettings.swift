import Terminal

extension Setting {
    /// The key bindings of the screen, one setting per action.
    static let keyBindings: [Setting] = KeyAction.allCases.map { action in
        Setting(
            "keys.\(action.rawValue)",
            list: \.keys[action],
            of: .key,
            count: 0...KeyBindings.maximumKeys,
            help: "Keys of the screen: \(action.meaning)."
        )
    }
}

extension Syntax<TerminalKey> {
    /// A key, written as its character or its name.
    static var key: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                do throws(TerminalKey.Misspelling) {
                    return try TerminalKey(text)
                } catch {
                    throw ParseError(error.reason)
                }
            },
            write: { $0.word }
        )
    }
}

extension Settings {
    /// Refuses key bindings that give one key two actions.
    func refuseSharedKeys() throws(OperatorError) {
        guard let conflict = self.keys.conflict else { return }
        let settings = conflict.actions.map { "keys.\($0.rawValue)" }
        let origins = settings.map { self.origin(of: $0) }
        // The user can change the binding that they wrote, or choose another key for the default one.
        let named = zip(settings, origins).map { "\($0) (\($1))" }.joined(separator: " and ")
        let isUsage = origins.contains { if case .flag = $0 { true } else { false } }
        throw OperatorError(
            "\(named) both have the key \(conflict.key.word): give one of them another, or none with []",
            status: isUsage ? .usage : .configuration
        )
    }
}
