import Glibc
import Market

/// Where the history of a recording is kept.
enum HistoryPlace {
    /// The database's name beside the recordings of the market.
    static let name = "tickertape-history.sqlite"

    /// The database of a program that records to `recording`; `nil` where none is kept.
    ///
    /// The demo has one of its own: its prices are not the market's. A replay has none, for its trades are in a file already,
    /// and `export` makes bars of it.
    static func path(_ setting: String, recording: String?, source: FeedStatus.Source) -> String? {
        guard setting != "off", let recording else { return nil }
        switch source {
        case .replay, .simulated: return nil
        case .live: break
        case .demo:
            return setting == "auto" ? self.beside(recording, "tickertape-history-demo.sqlite") : "\(setting).demo"
        }
        return setting == "auto" ? self.beside(recording, self.name) : setting
    }

    /// A file in the folder of another one.
    static func beside(_ path: String, _ name: String) -> String {
        let folder = self.folder(of: path)
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    static func folder(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The path from the root, which is the same wherever the next program is started.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        // As the folder of a file that is named without one.
        if path == "." { return String(cString: folder) }
        let stripped = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return "\(String(cString: folder))/\(stripped)"
    }
}
