import NIOCore
import Terminal

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

extension Syntax<DisplaySettings.ByteLimit> {
    /// A size, 0 for no limit, or `auto`.
    static func byteLimit(within range: ClosedRange<Int>) -> Syntax {
        let size = Syntax<Int>.size.within(range)
        return Syntax(
            read: { text throws(ParseError) in
                if text.lowercased() == "auto" { return .auto }
                let bytes = try size.read(text)
                return bytes > 0 ? .perSecond(bytes) : .none
            },
            write: { limit in
                switch limit {
                case .auto: "auto"
                case .none: size.write(0)
                case .perSecond(let bytes): size.write(bytes)
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
