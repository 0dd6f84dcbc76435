import Market

/// The keys of each action.
///
/// Ctrl-C, Ctrl-Z and Ctrl-\ are not bindings: they always have their usual meaning.
package struct KeyBindings: Sendable, Equatable {
    /// The largest number of keys for one action.
    package static let maximumKeys = 8

    /// A key that is bound to two actions.
    package struct Conflict: Sendable, Equatable {
        package var key: TerminalKey
        package var actions: [KeyAction]
    }

    private var keys: [KeyAction: [TerminalKey]]

    package init() {
        self.keys = Dictionary(uniqueKeysWithValues: KeyAction.allCases.map { ($0, $0.keys) })
    }

    /// The keys of an action; empty if no key is bound to it.
    package subscript(action: KeyAction) -> [TerminalKey] {
        get { self.keys[action] ?? [] }
        set { self.keys[action] = newValue }
    }

    /// Returns the action of a key.
    package func action(of key: TerminalKey) -> KeyAction? {
        KeyAction.allCases.first { self[$0].contains(key) }
    }

    /// The first conflict, if there is one.
    package var conflict: Conflict? {
        var owners: [TerminalKey: KeyAction] = [:]
        for action in KeyAction.allCases {
            for key in self[action] {
                if let other = owners[key], other != action { return Conflict(key: key, actions: [other, action]) }
                owners[key] = action
            }
        }
        return nil
    }

    /// Returns the help for each bound action that can do something: those for replays appear in replays only, for
    /// example.
    func help(
        isReplay: Bool,
        isDemo: Bool = false,
        hasGroups: Bool = false,
        glyphs: ScreenGlyphs = .unicode
    ) -> [KeyHelp] {
        KeyAction.allCases.compactMap { action in
            let isUseful =
                switch action {
                case .live: isDemo
                case .previousGroup: hasGroups
                default: isReplay || !action.isForReplays
                }
            guard isUseful else { return nil }
            var labels = self[action].map { $0.label(glyphs: glyphs) }
            if action == .quit { labels.append(TerminalKey.control("c").label(glyphs: glyphs)) }
            guard !labels.isEmpty else { return nil }
            return KeyHelp(keys: labels.joined(separator: " "), meaning: action.meaning)
        }
    }
}
