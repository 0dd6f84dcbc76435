import Configuration
import Glibc
import NIOConcurrencyHelpers

/// The config file: found, read within bounds, and parsed as YAML.
struct SettingsFile {
    /// The most bytes of it; its manual with every setting has a few thousand.
    static let limit = 1 << 20

    let path: String
    /// What keeps others from reading it, where they can.
    let hintForReaders: String?
    let values: YAMLSnapshot
    /// The paths of all values in it, joined by dots, in the order of their depth.
    let keys: [String]

    /// Reads the file that was named, or else the first of the usual places where one exists.
    static func find(named path: String?, environment: [String: String]) throws(OperatorError) -> SettingsFile? {
        if let path {
            guard let file = try SettingsFile(path: path) else {
                throw OperatorError(
                    "\(path): no such config file; correct --config or TICKERTAPE_CONFIG",
                    status: .configuration
                )
            }
            return file
        }
        for path in Self.usualPaths(environment: environment) {
            if let file = try SettingsFile(path: path) { return file }
        }
        return nil
    }

    /// Where a config file is looked for, the first one wins (XDG Base Directory Specification: a relative
    /// `XDG_CONFIG_HOME` is invalid and ignored).
    static func usualPaths(environment: [String: String]) -> [String] {
        var paths: [String] = []
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            paths.append("\(folder)/tickertape/config.yaml")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.append("\(home)/.config/tickertape/config.yaml")
        }
        return paths + ["/etc/tickertape/config.yaml"]
    }

    /// Reads and parses a file, or answers `nil` where there is none.
    init?(path: String) throws(OperatorError) {
        let contents: SmallFile
        do throws(SmallFile.Failure) {
            guard let read = try SmallFile(path: path, limit: Self.limit) else { return nil }
            contents = read
        } catch {
            throw OperatorError("\(path): the config file \(error.reason)", status: .configuration)
        }
        self.path = path
        self.hintForReaders = contents.hintForReaders

        // swift-configuration asks for every value's key whether it is a secret; that is how the keys become known.
        let keys = Keys()
        let options = YAMLSnapshot.ParsingOptions(
            secretsSpecifier: .dynamic { key, _ in
                keys.list.withLockedValue { $0.append(key) }
                return Setting.named(key)?.isSecret ?? true
            }
        )
        // A file of comments alone has no root, and the parser takes that for an error.
        let bytes = contents.bytes.isVoidOfYAML ? Array("{}".utf8) : contents.bytes
        do {
            self.values = try YAMLSnapshot(data: bytes.span.bytes, providerName: path, parsingOptions: options)
        } catch {
            throw OperatorError("\(path):\(YAMLComplaint.words("\(error)", of: bytes))", status: .configuration)
        }
        self.keys = keys.list.withLockedValue { $0 }
    }

    private final class Keys: Sendable {
        let list = NIOLockedValueBox<[String]>([])
    }
}

extension [UInt8] {
    /// Whether there is nothing but blank lines, comments and document marks.
    fileprivate var isVoidOfYAML: Bool {
        self.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
            return text.isEmpty || text.first == UInt8(ascii: "#") || text.elementsEqual("---".utf8)
        }
    }
}
