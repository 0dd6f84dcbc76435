/// Where a setting's value came from.
package enum Origin: Sendable, Equatable, CustomStringConvertible {
    case builtIn
    /// A file, by its path.
    case file(String)
    /// An environment variable, by its name.
    case environment(String)
    /// A flag, with its dashes.
    case flag(String)

    package var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path): "from \(path)"
        case .environment(let name): "from \(name)"
        case .flag(let flag): "from \(flag)"
        }
    }
}
