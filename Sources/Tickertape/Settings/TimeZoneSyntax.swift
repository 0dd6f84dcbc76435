import Terminal

extension Syntax<TimeZoneChoice> {
    /// The folders of the time zone database.
    private static var folders: [String] { ["/usr/share/zoneinfo", "/etc/zoneinfo"] }
    /// More than any file of the database has.
    private static var largestFile: Int { 256 << 10 }

    /// `local`, `UTC` or a name of the time zone database.
    static var timeZone: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                switch text.lowercased() {
                case "local": return .local
                case "utc": return .named(.utc)
                default: break
                }
                let usage = "is not a time zone; write local, UTC or a name such as Europe/Berlin"
                guard Self.isName(text) else { throw ParseError(usage) }
                for folder in Self.folders {
                    guard let file = try? SmallFile(path: "\(folder)/\(text)", limit: Self.largestFile) else {
                        continue
                    }
                    guard let rules = TimeZoneRules(name: text, file: file.bytes) else { break }
                    return .named(rules)
                }
                let hasNames = Self.folders.contains {
                    (try? SmallFile(path: "\($0)/Etc/UTC", limit: Self.largestFile)) != nil
                }
                guard hasNames else {
                    throw ParseError(
                        "cannot be looked up, because this machine has no time zone database; install the package tzdata, or "
                            + "write local or UTC"
                    )
                }
                throw ParseError("\(usage), spelt as in \(Self.folders[0])")
            },
            write: { $0.name ?? "local" }
        )
    }

    /// Whether a text can be a name in the database. It becomes a part of a path.
    private static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= 64 && parts.count <= 3
            && parts.allSatisfy { part in
                part.utf8.first.map { Character(Unicode.Scalar($0)).isLetter } ?? false
                    && part.utf8.allSatisfy { byte in
                        let character = Character(Unicode.Scalar(byte))
                        return character.isASCII
                            && (character.isLetter || character.isNumber || "_+-".contains(character))
                    }
            }
    }
}
