import TLS
import Glibc
import Relay

/// The choice among the sources of the token for the relay's clients.
///
/// The first of these counts: the file that the flags or the environment name, the service manager's credential
/// ``credentialName``, the file that the config file names.
enum RelayTokenChoice {
    /// The name of the credential (systemd.exec(5), `LoadCredential=`).
    static let credentialName = "relay-token"

    /// Stores the token in the settings, and returns warnings.
    static func settle(_ settings: inout Settings, environment: [String: String]) throws(OperatorError) -> [String] {
        let origin = settings.origin(of: .relayTokenFile)
        let isFromAbove =
            switch origin {
            case .flag, .environment: true
            case .builtIn, .file: false
            }
        if !isFromAbove, let path = Self.credential(environment) {
            // The service manager controls who can read the file. With an access list, its mode shows the list's mask.
            let name = "credential \(Self.credentialName) (from CREDENTIALS_DIRECTORY)"
            settings.relayToken = try Self.read(path, named: name, status: .configuration).token
            settings.origins[Setting.relayTokenFile.key] = .file(path)
            settings.relayFiles.token = path
            return []
        }
        guard let path = settings.relayFiles.token else { return [] }
        let isFlag = if case .flag = origin { true } else { false }
        let name = "relay.token-file (\(origin))"
        let (token, hint) = try Self.read(path, named: name, status: isFlag ? .usage : .configuration)
        settings.relayToken = token
        return hint.map { ["\(path) holds the relay's token and others can read it; run \($0)"] } ?? []
    }

    private static func credential(_ environment: [String: String]) -> String? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else { return nil }
        let path = "\(folder)/\(Self.credentialName)"
        var status = stat()
        // A credential that exists but is unreadable is an error, which `read` reports.
        return stat(path, &status) == 0 || errno != ENOENT ? path : nil
    }

    private static func read(
        _ path: String,
        named name: String,
        status: ExitStatus
    ) throws(OperatorError) -> (token: Secret, hint: String?) {
        let (token, hint) = try TokenChoice.read(path, "token", named: name, status: status)
        let least = TokenGate.minimumCharacters
        guard token.reveal().utf8.count >= least else {
            throw OperatorError(
                "\(name): the token in \(path) is shorter than \(least) characters and can be guessed; make one with "
                    + "openssl rand -hex 24",
                status: status
            )
        }
        return (token, hint)
    }
}
