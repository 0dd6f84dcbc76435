import Configuration

/// One setting's declaration: all that is known of it beside its default, which is ``Settings``' own.
package struct Setting: Sendable {
    /// The path of keys in the config file, joined by dots.
    package let key: String
    /// The name of the environment variable.
    package let environment: String
    /// The long names of its own flag, without dashes; settings without one are reached by `--set KEY=VALUE`.
    package let flags: [String]
    /// What it does, in one sentence; the help of the flag too.
    package let help: String
    package let isList: Bool
    /// Whether the value must not be shown, nor stand in the arguments, which every user of a machine can see.
    package let isSecret: Bool
    /// Reads the value's texts (one, unless it is a list) into the settings.
    let read: @Sendable (inout Settings, [String]) throws(ParseError) -> Void
    /// Writes the value as it would be given.
    let write: @Sendable (Settings) -> String

    /// Declares a setting with one value.
    init<Value: Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ syntax: Syntax<Value>,
        environment: String? = nil,
        flags: [String] = [],
        isSecret: Bool = false,
        help: String
    ) {
        self.key = key
        self.environment = environment ?? Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = false
        self.isSecret = isSecret
        self.read = { settings, texts throws(ParseError) in
            guard texts.count == 1 else { throw ParseError("is a list; give one value") }
            settings[keyPath: path] = try syntax.read(texts[0].trimmingBlanks())
        }
        self.write = { syntax.write($0[keyPath: path]) }
    }

    /// Declares a setting with a list of values; repeated ones count once unless `keepsRepeats`.
    init<Value: Sendable & Equatable>(
        _ key: String,
        list path: any WritableKeyPath<Settings, [Value]> & Sendable,
        of syntax: Syntax<Value>,
        count: ClosedRange<Int>,
        keepsRepeats: Bool = false,
        flags: [String] = [],
        help: String
    ) {
        self.key = key
        self.environment = Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = true
        self.isSecret = false
        self.read = { settings, texts throws(ParseError) in
            var values: [Value] = []
            for text in texts {
                let value: Value
                do throws(ParseError) {
                    value = try syntax.read(syntax.takesBlanks ? text : text.trimmingBlanks())
                } catch {
                    throw ParseError(
                        error.echoes ? "holds \"\(text)\", which \(error.reason)" : "has a value that \(error.reason)",
                        echoes: false
                    )
                }
                if keepsRepeats || !values.contains(value) { values.append(value) }
            }
            guard count.contains(values.count) else {
                throw ParseError(
                    "has \(values.count) values; it may have \(count.lowerBound) to \(count.upperBound)",
                    echoes: false
                )
            }
            settings[keyPath: path] = values
        }
        self.write = { settings in
            "[" + settings[keyPath: path].map(syntax.write).joined(separator: ", ") + "]"
        }
    }

    /// The declaration of a key.
    package static func named(_ key: String) -> Setting? { Self.byKey[key] }

    private static let byKey = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.key, $0) })

    private static func environmentName(_ key: String) -> String {
        "TICKERTAPE_" + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }

    /// The key as swift-configuration has it.
    var configKey: AbsoluteConfigKey { AbsoluteConfigKey(ConfigKey(self.key)) }
}

extension StringProtocol {
    /// The text without blanks, tabs and line ends around it.
    func trimmingBlanks() -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        guard let first = self.firstIndex(where: { !isBlank($0) }), let last = self.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }
}
