import NIOCore

extension Syntax<Settings.State.Folder> {
    /// A folder, or a word that stands for one.
    package static var folder: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                switch text.lowercased() {
                case "auto": return .auto
                // YAML's own word for `off`.
                case "off", "false": return .off
                default:
                    guard text.hasPrefix("/"), !text.utf8.contains(0) else {
                        throw ParseError("is neither auto nor off nor a folder; write the folder's whole path")
                    }
                    return .path(text)
                }
            },
            write: { folder in
                switch folder {
                case .auto: "auto"
                case .off: "off"
                case .path(let path): path
                }
            }
        )
    }
}

extension Syntax<Settings.RejectedKey> {
    /// A duration, or a word for another reaction than waiting.
    static func rejectedKey(within range: ClosedRange<TimeAmount>) -> Syntax {
        let duration = Syntax<TimeAmount>.duration.within(range)
        return Syntax(
            read: { text throws(ParseError) in
                switch text.lowercased() {
                case "auto": .auto
                case "stop": .stop
                default: .retry(try duration.read(text))
                }
            },
            write: { choice in
                switch choice {
                case .auto: "auto"
                case .stop: "stop"
                case .retry(let wait): duration.write(wait)
                }
            }
        )
    }
}
