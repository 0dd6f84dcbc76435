import TLS

/// The choice among the sources of the key.
///
/// A layer may use one source only, and any source in a higher layer overrides all sources in lower ones. From the
/// highest: `--token-file`; `FINNHUB_TOKEN` or `TICKERTAPE_TOKEN_FILE`; ``credentialName`` among the
/// service manager's credentials or in `secrets.directory`; `token` or `token-file` in the config file.
struct TokenChoice {
    /// The name of the credential (systemd.exec(5), `LoadCredential=`).
    static let credentialName = "finnhub-token"
    /// The largest size of a file with a key, in bytes.
    private static let limit = 4_096

    /// The source of the key.
    private enum Place {
        case nowhere
        case given(Secret)
        case file(String)
        case credential(SecretFile)
    }

    private var place = Place.nowhere
    private var origin: Origin?
    /// The config file, if it holds the key, and the command that keeps other users from reading it.
    private var openConfig: (path: String, hint: String)?

    /// Takes the file of the key in a folder of secrets, if it exists.
    mutating func considerCredential(in folders: SecretFolders) {
        guard let file = folders.find(Self.credentialName) else { return }
        self.place = .credential(file)
        self.origin = .file(file.path)
        self.openConfig = nil
    }

    /// Takes the key's settings that a layer has just written.
    ///
    /// - Parameter written: the keys of the layer.
    mutating func consider(
        _ settings: Settings,
        written: Set<String>,
        file: SettingsFile?
    ) throws(OperatorError) {
        let hasToken = written.contains("token")
        let hasFile = written.contains("token-file")
        guard hasToken || hasFile else { return }
        let tokenOrigin = settings.origin(of: "token")
        let fileOrigin = settings.origin(of: "token-file")

        let token = hasToken ? settings.token : nil
        let path = hasFile ? settings.tokenFile : nil
        if token != nil && path != nil {
            throw OperatorError(
                "token (\(tokenOrigin)) and token-file (\(fileOrigin)) are both given; keep one",
                status: .configuration
            )
        }
        self.place = token.map { .given($0) } ?? path.map { .file($0) } ?? .nowhere
        self.origin = path == nil && hasToken ? tokenOrigin : fileOrigin
        self.openConfig = nil
        if token != nil, let file, tokenOrigin == .file(file.path), let hint = file.hintForReaders {
            self.openConfig = (file.path, hint)
        }
    }

    /// Stores the key in force in the settings, reading its file if necessary; returns warnings.
    func settle(_ settings: inout Settings) throws(OperatorError) -> [String] {
        settings.token = nil
        settings.origins["token"] = self.origin
        var warnings: [String] = []
        switch self.place {
        case .nowhere:
            return []
        case .given(let token):
            settings.token = token
            if let (path, hint) = self.openConfig { warnings.append(Self.warning(path, hint)) }
        case .file(let path):
            let isFlag = if case .flag = self.origin { true } else { false }
            let (token, hint) = try Self.read(
                path,
                "key",
                named: "token-file (\(self.origin ?? .builtIn))",
                status: isFlag ? .usage : .configuration
            )
            settings.token = token
            settings.origins["token"] = .file(path)
            if let hint { warnings.append(Self.warning(path, hint)) }
        case .credential(let file):
            let (token, hint) = try Self.read(file.path, "key", named: file.words, status: .configuration)
            settings.token = token
            if let hint, !file.isCredential { warnings.append(Self.warning(file.path, hint)) }
        }
        if settings.token?.isUnlikelyKey == true {
            warnings.append(
                "the key (\(settings.origin(of: "token"))) has characters that Finnhub's keys do not have: is there a "
                    + "quotation mark or a placeholder in it?"
            )
        }
        return warnings
    }

    private static func warning(_ path: String, _ hint: String) -> String {
        "\(path) holds the API key and others can read it; run \(hint)"
    }

    /// Reads a file that holds only a key or a token, with optional blanks around it. Errors never repeat its contents.
    static func read(
        _ path: String,
        _ what: String,
        named name: String,
        status: ExitStatus
    ) throws(OperatorError) -> (token: Secret, hint: String?) {
        let (text, hint) = try Self.readText(path, named: name, status: status)
        guard let token = Secret(token: text) else {
            throw OperatorError(
                "\(name): \(path) \(text.isEmpty ? "is empty; it " : "")must hold the \(what) and nothing else, in one line",
                status: status
            )
        }
        return (token, hint)
    }

    /// Reads the text of a file with a secret, without the blanks around it. Errors never repeat its contents.
    static func readText(
        _ path: String,
        named name: String,
        status: ExitStatus
    ) throws(OperatorError) -> (text: String, hint: String?) {
        let contents: SmallFile
        do throws(SmallFile.Failure) {
            guard let read = try SmallFile(path: path, limit: Self.limit) else {
                throw SmallFile.Failure(reason: "does not exist")
            }
            contents = read
        } catch {
            // The path may be the key itself, set under the wrong name.
            let mayBeKey = path.utf8.count >= 16 && !path.hasPrefix("/") && !path.utf8.contains(UInt8(ascii: "."))
            let place = mayBeKey ? "the file named there" : path
            throw OperatorError("\(name): \(place) \(error.reason)", status: status)
        }
        var bytes = contents.bytes[...]
        // Some editors put a byte order mark before the text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        return (String(decoding: bytes, as: UTF8.self).trimmingBlanks(), contents.hintForReaders)
    }
}
