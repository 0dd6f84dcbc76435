import Logging
import Measurements
import Relay
import TLS

extension Settings {
    /// Loads the relay's certificate; `nil` if the relay is off or has no TLS.
    ///
    /// - Throws: ``OperatorError`` when the certificate cannot be used.
    func relayTLS(instruments: Instruments, logger: Logger) throws(OperatorError) -> RelayTLS? {
        guard self.relay.listen != nil, let certificate = self.relayFiles.certificate, let key = self.relayFiles.key
        else {
            return nil
        }
        do throws(TLSError) {
            return try RelayTLS(
                files: RelayTLS.Files(certificate: certificate, key: key),
                handshakeTimeout: self.relay.handshakeTimeout,
                ciphers: self.dial.tls.ciphers,
                instruments: instruments,
                logger: logger
            )
        } catch {
            throw OperatorError("\(error) (relay.certificate-file, relay.key-file)", status: .configuration)
        }
    }
}
