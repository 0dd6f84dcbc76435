/// Which of the two ways to give the key counts: within a layer only one may be used, and a higher layer's covers both
/// ways of a lower one.
struct TokenChoice {
    /// The most bytes of a file that holds a key.
    private static let limit = 4_096

    private var fromFile: (path: String, origin: Origin)?
    private var direct: Secret?
    private var origin: Origin?

    /// Takes what a layer just wrote into the settings; answers with a warning when others can read the key.
    ///
    /// - Parameter written: the keys that the layer has.
    mutating func consider(
        _ settings: Settings,
        written: Set<String>,
        file: SettingsFile?
    ) throws(OperatorError) -> String? {
        let hasToken = written.contains("token")
        let hasFile = written.contains("token-file")
        guard hasToken || hasFile else { return nil }
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
        self.direct = token
        self.fromFile = path.map { ($0, fileOrigin) }
        self.origin = hasToken ? tokenOrigin : fileOrigin
        if token != nil, let file, tokenOrigin == .file(file.path), file.isOpenToOthers {
            return "\(file.path) holds the API key and others can read it; run chmod o-r on it"
        }
        return nil
    }

    /// Reads the file if one was chosen, and leaves the key in force in the settings.
    func readFile(_ settings: inout Settings) throws(OperatorError) -> String? {
        settings.token = self.direct
        settings.origins["token"] = self.origin
        guard let (path, origin) = self.fromFile else { return nil }
        let status: ExitStatus = if case .flag = origin { .usage } else { .configuration }
        let contents: BoundedFile
        do throws(BoundedFile.Failure) {
            guard let read = try BoundedFile(path: path, limit: Self.limit) else {
                throw BoundedFile.Failure(reason: "does not exist")
            }
            contents = read
        } catch {
            throw OperatorError("token-file (\(origin)): \(path) \(error.reason)", status: status)
        }
        let text = String(decoding: contents.bytes, as: UTF8.self).trimmingBlanks()
        guard let token = Secret(token: text) else {
            throw OperatorError(
                "token-file (\(origin)): \(path) must hold the key and nothing else, in one line",
                status: status
            )
        }
        settings.token = token
        settings.origins["token"] = .file(path)
        return contents.isOpenToOthers ? "\(path) holds the API key and others can read it; run chmod o-r on it" : nil
    }
}
