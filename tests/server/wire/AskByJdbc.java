import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What a program in Java does: schema, a prepared question, the same again, a mistake. */
public class AskByJdbc {
    static final String ASK = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.5) ward, COUNT(*) AS n"
            + " FROM visits WHERE age > ? GROUP BY ward";

    static String quoted(String text) {
        return "\"" + text + "\"";
    }

    static List<String> rows(Connection connection, List<String> labels) throws SQLException {
        List<String> found = new ArrayList<>();
        try (PreparedStatement asked = connection.prepareStatement(ASK)) {
            asked.setDouble(1, 30);
            try (ResultSet read = asked.executeQuery()) {
                ResultSetMetaData about = read.getMetaData();
                labels.clear();
                for (int column = 1; column <= about.getColumnCount(); column++) {
                    labels.add(quoted(about.getColumnLabel(column)));
                }
                while (read.next()) {
                    found.add(quoted(read.getString("ward") + " " + read.getLong("n")));
                }
            }
        }
        return found;
    }

    public static void main(String[] given) throws Exception {
        String place = "jdbc:postgresql://127.0.0.1:" + given[0] + "/discreet?sslmode=disable";
        List<String> labels = new ArrayList<>();
        List<String> tables = new ArrayList<>();
        List<String> columns = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(place, given[1], given[2])) {
            DatabaseMetaData about = connection.getMetaData();
            try (ResultSet read = about.getTables(null, "public", "%", new String[] {"TABLE"})) {
                while (read.next()) {
                    tables.add(quoted(read.getString("TABLE_NAME")));
                }
            }
            try (ResultSet read = about.getColumns(null, "public", "visits", "%")) {
                while (read.next()) {
                    columns.add(quoted(read.getString("COLUMN_NAME")));
                }
            }
            List<String> first = rows(connection, labels);
            List<String> again = first;
            for (int turn = 0; turn < 8; turn++) { // from the fifth on it is prepared on the server
                again = rows(connection, labels);
            }
            boolean refused = false;
            try {
                connection.createStatement().executeQuery("SELECT age FROM visits");
            } catch (SQLException refusal) {
                refused = true;
            }
            System.out.println("{\"tables\": " + tables + ", \"columns\": " + columns + ", \"labels\": " + labels
                    + ", \"rows\": " + first + ", \"again\": " + again + ", \"refused\": " + refused + "}");
        }
    }
}
