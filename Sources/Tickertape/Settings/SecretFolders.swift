import Glibc

/// A secret's file, found by its name in one of the ``SecretFolders``.
struct SecretFile {
    let path: String
    /// Whether the service manager controls who can read the file. With an access list, its mode shows the list's mask.
    let isCredential: Bool
    /// The file and where its folder is named, for messages.
    let words: String
}

/// The folders in which each secret has a file of its own name: the service manager's credentials (systemd.exec(5),
/// `LoadCredential=`), and the folder of `secrets.directory`.
struct SecretFolders {
    /// The name of the webhook's file, and of the proxy's.
    private static let webhookName = "alerts-webhook"
    private static let proxyName = "upstream-proxy"

    private var credentials: String?
    private var directory: String?

    init() {}

    /// - Parameter file: the settings of the config file, over which the environment and the flags win.
    /// - Throws: ``OperatorError`` if `secrets.directory` names no folder.
    init(file: Settings, environment: [String: String], flags: GivenFlags) throws(OperatorError) {
        if let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") { self.credentials = folder }
        let setting = Setting.secretsDirectory
        var settings = file
        let flag = flags.values.last { $0.setting.key == setting.key }?.texts
        // A mistake is reported by the layer that has it.
        if let texts = flag ?? environment[setting.environment].map({ [$0] }) { try? setting.read(&settings, texts) }
        guard let directory = settings.secretsDirectory else { return }
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw OperatorError("\(setting.key): \(directory) is not a folder that can be read", status: .configuration)
        }
        self.directory = directory
    }

    /// Returns the file of a secret; a credential comes first. A file that exists but cannot be read is returned as well,
    /// so that its reader reports that.
    func find(_ name: String) -> SecretFile? {
        if let credentials, let path = Self.path(of: name, in: credentials) {
            return SecretFile(
                path: path,
                isCredential: true,
                words: "credential \(name) (from CREDENTIALS_DIRECTORY)"
            )
        }
        guard let directory, let path = Self.path(of: name, in: directory) else { return nil }
        return SecretFile(path: path, isCredential: false, words: "\(name) (from secrets.directory)")
    }

    private static func path(of name: String, in folder: String) -> String? {
        let path = "\(folder)/\(name)"
        var status = stat()
        return stat(path, &status) == 0 || errno != ENOENT ? path : nil
    }

    /// Takes the webhook and the proxy, unless a flag or a variable has given them.
    func settle(_ settings: inout Settings) throws(OperatorError) {
        if !settings.isFromAbove(.alertWebhook), !settings.isFromAbove(.alertWebhookFile),
            let file = self.find(Self.webhookName)
        {
            settings.alerts.webhook = nil
            settings.alerts.webhookFile = file.path
            settings.origins[Setting.alertWebhook.key] = nil
            settings.origins[Setting.alertWebhookFile.key] = .file(file.path)
        }
        guard !settings.isFromAbove(.upstreamProxy), let file = self.find(Self.proxyName) else { return }
        let proxy = try TokenChoice.read(file.path, "proxy's URL", named: file.words, status: .configuration).token
        do throws(ParseError) {
            try Setting.upstreamProxy.read(&settings, [proxy.reveal()])
        } catch {
            throw OperatorError("\(file.words): the URL in \(file.path) \(error.reason)", status: .configuration)
        }
        settings.origins[Setting.upstreamProxy.key] = .file(file.path)
    }
}

extension Settings {
    /// Whether a flag or a variable has given a setting.
    func isFromAbove(_ setting: Setting) -> Bool {
        switch self.origin(of: setting) {
        case .flag, .environment: true
        case .builtIn, .file: false
        }
    }
}
