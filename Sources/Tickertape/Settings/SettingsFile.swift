import Configuration
import Glibc
import NIOConcurrencyHelpers

/// The config file: located, read within bounds, and parsed as YAML.
struct SettingsFile {
    /// The largest size in bytes. The commented sample with every setting has a few thousand.
    static let limit = 1 << 20

    let path: String
    /// The command that keeps other users from reading the file; `nil` where they cannot.
    let hintForReaders: String?
    let values: YAMLSnapshot
    /// The paths of all its values, joined by dots, in the order of their depth.
    let keys: [String]
    private let outline: YAMLOutline

    /// Reads the file with this path, or else the first of the usual files that exists.
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

    /// Returns the usual paths of a config file; the first file that exists wins.
    ///
    /// XDG Base Directory Specification: a relative `XDG_CONFIG_HOME` is invalid and ignored.
    static func usualPaths(environment: [String: String]) -> [String] {
        var paths: [String] = []
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            paths.append("\(folder)/tickertape/config.yaml")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.append("\(home)/.config/tickertape/config.yaml")
        }
        return paths + ["/etc/tickertape/config.yaml"]
    }

    /// Reads and parses a file; `nil` when the file does not exist.
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

        // swift-configuration asks for every key whether its value is a secret. The callback collects the keys.
        let keys = Keys()
        let options = YAMLSnapshot.ParsingOptions(
            secretsSpecifier: .dynamic { key, _ in
                keys.list.withLockedValue { $0.append(key) }
                return Setting.named(key)?.isSecret ?? true
            }
        )
        // A file with comments only has no root, which the parser reports as an error.
        let bytes = contents.bytes.isVoidOfYAML ? Array("{}".utf8) : contents.bytes
        do {
            self.values = try YAMLSnapshot(data: bytes.span.bytes, providerName: path, parsingOptions: options)
        } catch {
            throw OperatorError("\(path):\(YAMLDiagnostic.words("\(error)", of: bytes))", status: .configuration)
        }
        self.keys = keys.list.withLockedValue { $0 }
        self.outline = YAMLOutline(String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the file and the line of a key, for messages.
    func place(of key: String) -> String { self.path + (self.outline.line(of: key).map { ":\($0)" } ?? "") }

    private final class Keys: Sendable {
        let list = NIOLockedValueBox<[String]>([])
    }
}

extension [UInt8] {
    /// Whether the file has only blank lines, comments and document marks.
    fileprivate var isVoidOfYAML: Bool {
        self.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
            return text.isEmpty || text.first == UInt8(ascii: "#") || text.elementsEqual("---".utf8)
        }
    }
}
